"""The character convolution on a GPU, through `charconv_kernels`. Importing needs Triton.

Shapes depend on no value and nothing synchronizes, so a step can be captured in a CUDA graph: words are sorted by
length on the device, and each block of them runs as many windows as its longest word has.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from elmo.ops.charconv import kernels
from elmo.ops.charconv.grouped import word_lengths


def char_convolution_cuda(
    rows: Tensor, table: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], *, padding_id: int
) -> Tensor:
    """See `charconv.char_convolution_reference` for the meaning."""
    if len(rows) == 0:
        return table.new_zeros(0, sum(weight.shape[2] for weight in weights))
    lengths, order = word_lengths(rows, padding_id).sort(descending=True)
    widest = max(weight.shape[0] for weight in weights)
    # [F, K]: each filter's own width first, zeros behind.
    stacked = torch.cat([pad(w.permute(2, 0, 1), (0, 0, 0, widest - w.shape[0])).flatten(1) for w in weights])
    widths = tuple(weight.shape[0] for weight in weights)
    starts = tuple(accumulate((weight.shape[2] for weight in weights[:-1]), initial=0))
    pooled: Tensor = _Fused.apply(  # type: ignore[no-untyped-call]
        rows[order], table.contiguous(), stacked.to(table.dtype), lengths, order, starts, widths
    )
    return pooled + torch.cat(list(biases)).to(pooled.dtype)


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        ids: Tensor,
        table: Tensor,
        weight: Tensor,
        lengths: Tensor,
        order: Tensor,
        starts: tuple[int, ...],
        widths: tuple[int, ...],
    ) -> Tensor:
        embedded = kernels.embed(ids, table)  # [W, C, E]
        keep = any(ctx.needs_input_grad)
        result, best = kernels.pool(embedded, weight, lengths, order, starts=starts, widths=widths, keep=keep)
        ctx.save_for_backward(ids, table, weight, lengths, order, embedded, best)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dresult: Tensor) -> tuple[Tensor | None, ...]:
        ids, table, weight, lengths, order, embedded, best = ctx.saved_tensors
        dresult = dresult.contiguous()
        _, C, E = embedded.shape
        dtable, dweight = None, None
        if ctx.needs_input_grad[1]:
            dembedded = kernels.embedded_gradient(weight, lengths, order, best, dresult, C=C, E=E)
            dtable = kernels.table_gradient(ids, dembedded, characters=len(table)).to(table.dtype)
        if ctx.needs_input_grad[2]:
            dweight = kernels.weight_gradient(embedded, lengths, order, best, dresult, K=weight.shape[1])
            dweight = dweight.T.to(weight.dtype)
        return None, dtable, dweight, None, None, None, None
