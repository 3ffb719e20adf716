"""The sampled softmax on a GPU, through `softmax_kernels`. Importing needs Triton.

The logits [M, S] are the largest tensor of a training step: they are held once, in the type of the product, and become
the probabilities that the backward pass needs.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops import softmax_kernels as kernels


def sampled_losses_cuda(
    hidden: Tensor, rows: Tensor, offsets: Tensor, true: Tensor, ids: Tensor, targets: Tensor
) -> Tensor:
    """See `softmax.sampled_losses` for the meaning. hidden [M, P] and rows [S, P] are of one type, the rest fp32."""
    losses: Tensor = _Sampled.apply(hidden, rows, offsets, true, ids, targets)  # type: ignore[no-untyped-call]
    return losses


class _Sampled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, rows: Tensor, offsets: Tensor, true: Tensor, ids: Tensor, targets: Tensor
    ) -> Tensor:
        shares = hidden @ rows.T  # [M, S]
        losses = kernels.probabilities_(shares, offsets.contiguous(), ids, targets.contiguous(), true.contiguous())
        ctx.save_for_backward(hidden, rows, shares, losses)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dlosses: Tensor) -> tuple[Tensor | None, ...]:
        hidden, rows, shares, losses = ctx.saved_tensors
        # A position's factor is applied to its hidden vector, not to its S probabilities.
        scale = dlosses.to(torch.float32).contiguous()  # [M]
        dhidden = ((shares @ rows) * scale[:, None]).to(hidden.dtype)
        drows = shares.T @ (hidden * scale[:, None]).to(hidden.dtype)
        return dhidden, drows, kernels.weighted_column_sum(shares, scale), scale * torch.expm1(-losses), None, None
