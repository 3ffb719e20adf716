"""Triton kernels of the sampled softmax: the logits [M, S] become probabilities in place, and the losses fall out.

M positions, S samples. A row is read twice and written once; nothing else of its size is made. Importing needs Triton.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

ROW_BLOCK = 2048
# Positions, samples and programs of the sum over positions.
SUM_TILE = (64, 128)
SUM_PARTS = 16


@triton.jit
def _row_logits(products, offsets, ids, row, target, columns, S):
    """The corrected logits of some samples of a position; minus infinity where the sample is the target."""
    inside = columns < S
    logits = tl.load(products + row * S + columns, mask=inside, other=0).to(tl.float32)
    logits += tl.load(offsets + columns, mask=inside, other=0)
    hit = tl.load(ids + columns, mask=inside, other=-1) == target
    return tl.where(inside & (hit == 0), logits, float("-inf"))


@triton.jit
def _probabilities_kernel(products, offsets, ids, targets, true, losses, S, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets + row)
    own = tl.load(true + row)
    # The target is the first class of the sum.
    highest = own
    total = own * 0 + 1
    for start in range(0, S, BLOCK):
        logits = _row_logits(products, offsets, ids, row, target, start + tl.arange(0, BLOCK), S)
        higher = tl.maximum(highest, tl.max(logits))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(logits - higher))
        highest = higher
    whole = highest + tl.log(total)
    tl.store(losses + row, whole - own)
    for start in range(0, S, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        logits = _row_logits(products, offsets, ids, row, target, columns, S)
        share = tl.exp(logits - whole).to(products.dtype.element_ty)
        tl.store(products + row * S + columns, share, mask=columns < S)


@triton.jit
def _sum_kernel(shares, scale, partials, M, S, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([COLUMNS], tl.float32)
    for block in range(tl.program_id(1), tl.cdiv(M, ROWS), tl.num_programs(1)):
        rows = (block * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        inside = (rows < M)[:, None] & (columns < S)[None, :]
        tile = tl.load(shares + rows[:, None] * S + columns[None, :], mask=inside, other=0).to(tl.float32)
        total += tl.sum(tile * tl.load(scale + rows, mask=rows < M, other=0)[:, None], axis=0)
    tl.store(partials + tl.program_id(1) * S + columns, total, mask=columns < S)


def probabilities_(products: Tensor, offsets: Tensor, ids: Tensor, targets: Tensor, true: Tensor) -> Tensor:
    """products [M, S] -> losses [M] in fp32; each product becomes the probability of its sample, 0 for a hit.

    offsets [S] and the targets' own logits true [M] are fp32; the softmax is over them and the samples.
    """
    M, S = products.shape
    losses = torch.empty(M, dtype=torch.float32, device=products.device)
    _probabilities_kernel[(M,)](
        products, offsets, ids, targets, true, losses, S, BLOCK=min(ROW_BLOCK, triton.next_power_of_2(S)), num_warps=8
    )
    return losses


def weighted_column_sum(shares: Tensor, scale: Tensor) -> Tensor:
    """scale [M] fp32, shares [M, S] -> their product [S], summed in fp32 and in the same order each time."""
    M, S = shares.shape
    rows, columns = SUM_TILE
    parts = max(1, min(SUM_PARTS, triton.cdiv(M, rows)))
    partials = torch.empty(parts, S, dtype=torch.float32, device=shares.device)
    _sum_kernel[(triton.cdiv(S, columns), parts)](
        shares, scale, partials, M, S, ROWS=rows, COLUMNS=columns, num_warps=4
    )
    return partials.sum(dim=0)
