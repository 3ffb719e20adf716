"""The character convolution in plain torch: words of like length together, one im2col product for each width.

Sizes as in `charconv`; n words of a group, V windows of a width that the group's longest word needs.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding

# Words in one im2col product: a few tens of megabytes at the published sizes.
WORDS_AT_ONCE = 256


def char_convolution_grouped(
    rows: Tensor, table: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], *, padding_id: int
) -> Tensor:
    """See `charconv.char_convolution_reference` for the meaning."""
    if torch.is_grad_enabled() and any(t.requires_grad for t in (table, *weights)):
        pooled: Tensor = _Grouped.apply(rows, padding_id, table, *weights)  # type: ignore[no-untyped-call]
    else:
        pooled = _pool(rows, padding_id, table, weights, scores=None)
    return pooled + torch.cat(list(biases))  # [W, F]; the bias commutes with the maximum


def word_lengths(rows: Tensor, padding_id: int) -> Tensor:
    """The columns of each word before its padding: [W]."""
    ends = torch.arange(1, rows.shape[1] + 1, device=rows.device)
    return ((rows != padding_id) * ends).amax(dim=1)


def _groups(rows: Tensor, padding_id: int, widest: int) -> Iterator[tuple[Tensor, int]]:
    """Words of like length, and the columns that they need: one more window than characters."""
    lengths = word_lengths(rows, padding_id)
    order = lengths.argsort()
    for words in order.split(WORDS_AT_ONCE) if len(rows) > 0 else ():
        yield words, min(rows.shape[1], int(lengths[words[-1]]) + widest)


def _windows(embedded: Tensor, width: int) -> Tensor:
    """embedded: [n, columns, E] -> [n * V, width * E]."""
    return embedded.unfold(1, width, 1).transpose(2, 3).reshape(-1, width * embedded.shape[-1])


def _pool(
    rows: Tensor, padding_id: int, table: Tensor, weights: Sequence[Tensor], *, scores: list[Tensor] | None
) -> Tensor:
    """The maxima [W, F]; with `scores` a list, the scores [n, V, count] of each group and width are added to it."""
    result = table.new_empty(len(rows), sum(weight.shape[2] for weight in weights))
    widest = max(weight.shape[0] for weight in weights)
    for words, columns in _groups(rows, padding_id, widest):
        embedded = embedding(rows[words, :columns].long(), table)  # [n, columns, E]
        pooled = []
        for weight in weights:
            product = _windows(embedded, weight.shape[0]) @ weight.flatten(0, 1)
            product = product.view(len(words), -1, weight.shape[2])  # [n, V, count]
            pooled.append(product.amax(dim=1))
            if scores is not None:
                scores.append(product)
        result[words] = torch.cat(pooled, dim=1)
    return result


class _Grouped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, padding_id: int, table: Tensor, *weights: Tensor) -> Tensor:
        ctx.scores = []
        result = _pool(rows, padding_id, table, weights, scores=ctx.scores)
        ctx.save_for_backward(rows, result, table, *weights)
        ctx.padding_id = padding_id
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dresult: Tensor) -> tuple[Tensor | None, ...]:
        rows, result, table, *weights = ctx.saved_tensors
        scores = iter(ctx.scores)
        # The scores become their gradients in place, unless the caller keeps the graph for another pass.
        keep = torch._C._autograd._get_current_graph_task_keep_graph()
        if not keep:
            ctx.scores = None
        E = table.shape[1]
        counts = [weight.shape[2] for weight in weights]
        dtable = torch.zeros_like(table)
        dweights = [torch.zeros_like(weight) for weight in weights]
        for words, columns in _groups(rows, ctx.padding_id, max(weight.shape[0] for weight in weights)):
            ids = rows[words, :columns].long()
            embedded = embedding(ids, table)  # [n, columns, E]
            dembedded = torch.zeros_like(embedded)
            best, dbest = result[words].split(counts, dim=1), dresult[words].split(counts, dim=1)
            for weight, dweight, highest, gradient in zip(weights, dweights, best, dbest, strict=True):
                width = weight.shape[0]
                chosen = next(scores)
                chosen = chosen.eq(highest[:, None]).to(table.dtype) if keep else chosen.eq_(highest[:, None])
                # Equal windows share the gradient.
                chosen *= (gradient / chosen.sum(dim=1))[:, None]
                V = chosen.shape[1]
                chosen = chosen.view(-1, weight.shape[2])  # [n * V, count]
                dweight.view(width * E, -1).addmm_(_windows(embedded, width).T, chosen)
                dwindows = (chosen @ weight.flatten(0, 1).T).view(len(words), V, width, E)
                for j in range(width):
                    dembedded[:, j : j + V] += dwindows[:, :, j]
            dtable.index_add_(0, ids.flatten(), dembedded.flatten(0, 1))
        return None, None, dtable, *dweights
