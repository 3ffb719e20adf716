"""The sampled softmax on a GPU, through `softmax_kernels`. Importing needs Triton.

The logits [M, S] are the largest tensor of a training step: they are held once, in the type of the product, and become
the probabilities that the backward pass needs. The targets' rows [M, P] of the weight are read where they are wanted.
M positions, S samples, P hidden, V classes.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops.gpu.products import product_as
from elmo.ops.softmax import kernels

# Sums of many numbers for one class are taken in multiples of this fraction of the largest: the same in every order.
FIXED_POINT = 2.0**40


def sampled_softmax_cuda(
    hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, ids: Tensor, corrections: Tensor
) -> Tensor:
    """See `softmax.sampled_losses` for the meaning; hidden may be narrower than weight and bias, which are fp32."""
    losses: Tensor = _Sampled.apply(  # type: ignore[no-untyped-call]
        hidden, weight, bias, targets.contiguous(), ids, corrections
    )
    return losses


class _Sampled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, ids: Tensor, corrections: Tensor
    ) -> Tensor:
        S = len(ids)
        hidden, weight = hidden.contiguous(), weight.contiguous()
        rows = weight[ids].to(hidden.dtype)  # [S, P]
        place = torch.full((len(weight),), -1, dtype=torch.int32, device=ids.device)
        place[ids] = torch.arange(S, dtype=torch.int32, device=ids.device)
        probabilities = hidden @ rows.T  # [M, S]
        losses = kernels.probabilities_(
            probabilities,
            hidden,
            weight,
            bias[ids] - corrections[:S],
            bias[targets] - corrections[S:],
            targets,
            place[targets],
        )
        ctx.save_for_backward(hidden, weight, rows, targets, ids, probabilities, losses)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dlosses: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, rows, targets, ids, probabilities, losses = ctx.saved_tensors
        S, (V, P) = len(ids), weight.shape
        scale = dlosses.to(torch.float32).contiguous()  # [M]
        dtrue = scale * torch.expm1(-losses)
        dclasses = torch.empty(S + len(targets), P, dtype=torch.float32, device=hidden.device)
        # A position's factor is applied to its vectors, not to its S probabilities.
        dhidden, scaled = kernels.position_gradients(
            probabilities @ rows, hidden, weight, targets, scale, dtrue, dclasses[S:]
        )
        product_as(probabilities.T, scaled, torch.float32, out=dclasses[:S])
        dweight = torch.ops.aten.embedding_dense_backward(dclasses, torch.cat([ids, targets]), V, -1, False)
        dbias = _sum_by_class(dtrue, targets, V)
        dbias[ids] += kernels.weighted_column_sum(probabilities, scale)  # the samples are all different
        return dhidden, dweight, dbias, None, None, None


def _sum_by_class(values: Tensor, classes: Tensor, count: int) -> Tensor:
    """values [M] fp32 summed for each class: [count]. Integers are added, so that the order of addition is nothing."""
    unit = values.abs().amax().clamp_min(torch.finfo(torch.float32).tiny).double() / FIXED_POINT
    whole = (values / unit).round().long()
    sums = torch.zeros(count, dtype=torch.int64, device=values.device).index_add_(0, classes, whole)
    return (sums * unit).float()
