"""The highway layer on a GPU: both gates in one product, the rest in one kernel. Importing needs Triton."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops.gpu.products import product_as
from elmo.ops.highway import kernels


def highway_cuda(
    x: Tensor, weight_carry: Tensor, bias_carry: Tensor, weight_transform: Tensor, bias_transform: Tensor
) -> Tensor:
    """See `highway.highway_reference` for the meaning. Weights may be wider than x (float32 masters)."""
    y: Tensor = _Fused.apply(  # type: ignore[no-untyped-call]
        x, weight_carry, bias_carry, weight_transform, bias_transform
    )
    return y


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight_carry: Tensor, bias_carry: Tensor, weight_transform: Tensor, bias_transform: Tensor
    ) -> Tensor:
        x = x.contiguous()
        F = x.shape[1]
        both = torch.empty(F, 2 * F, dtype=x.dtype, device=x.device)
        both[:, :F], both[:, F:] = weight_carry, weight_transform
        pre = torch.addmm(torch.cat([bias_carry, bias_transform]).to(x.dtype), x, both)  # [W, 2F]
        ctx.save_for_backward(x, both, pre)
        ctx.dtype = weight_carry.dtype
        return kernels.combine(pre, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, ...]:
        x, both, pre = ctx.saved_tensors
        F = x.shape[1]
        dpre, carried = kernels.combine_backward(pre, x, dy.contiguous())
        dx = torch.addmm(carried, dpre, both.T)
        dbias = dpre.sum(0, dtype=ctx.dtype)
        dcarry, dtransform = (product_as(x.T, part, ctx.dtype) for part in dpre.split(F, dim=1))
        return dx, dcarry, dbias[:F], dtransform, dbias[F:]
