"""Triton kernels of the sampled softmax: the logits [M, S] become probabilities in place, and the losses fall out.

M positions, S samples, P hidden, V classes. Importing needs Triton.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

# Samples that a program holds in registers: up to so many, a row is read once.
ROW_BLOCK = 8192
# Positions and samples of a program, and programs over positions, in the sum over positions.
SUM_TILE = (32, 512)
SUM_PARTS = 64


@triton.jit
def _row_logits(probabilities, offsets, row, hit, columns, S):
    """The corrected logits of some samples of a position; minus infinity where the sample is the target."""
    inside = columns < S
    logits = tl.load(probabilities + row * S + columns, mask=inside, other=0, eviction_policy="evict_first").to(
        tl.float32
    )
    logits += tl.load(offsets + columns, mask=inside, other=0)
    return tl.where(inside & (columns != hit), logits, float("-inf"))


@triton.jit
def _probabilities_kernel(
    probabilities, hidden, weight, offsets, own, targets, hits, losses, S, P,
    ONCE: tl.constexpr, SAMPLES: tl.constexpr, HIDDEN: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    hit = tl.load(hits + row)
    terms = tl.arange(0, HIDDEN)
    vector = tl.load(hidden + row * P + terms, mask=terms < P, other=0)
    class_row = tl.load(weight + tl.load(targets + row) * P + terms, mask=terms < P, other=0).to(vector.dtype)
    true = tl.sum(vector.to(tl.float32) * class_row.to(tl.float32)) + tl.load(own + row)
    columns = tl.arange(0, SAMPLES)
    if ONCE:
        logits = _row_logits(probabilities, offsets, row, hit, columns, S)
        highest = tl.maximum(true, tl.max(logits))
        whole = highest + tl.log(tl.exp(true - highest) + tl.sum(tl.exp(logits - highest)))
        probability = tl.exp(logits - whole).to(probabilities.dtype.element_ty)
        tl.store(probabilities + row * S + columns, probability, mask=columns < S)
    else:
        # The target is the first class of the sum.
        highest = true
        total = true * 0 + 1
        for start in range(0, S, SAMPLES):
            logits = _row_logits(probabilities, offsets, row, hit, start + columns, S)
            higher = tl.maximum(highest, tl.max(logits))
            total = total * tl.exp(highest - higher) + tl.sum(tl.exp(logits - higher))
            highest = higher
        whole = highest + tl.log(total)
        for start in range(0, S, SAMPLES):
            logits = _row_logits(probabilities, offsets, row, hit, start + columns, S)
            probability = tl.exp(logits - whole).to(probabilities.dtype.element_ty)
            tl.store(probabilities + row * S + start + columns, probability, mask=start + columns < S)
    tl.store(losses + row, whole - true)


@triton.jit
def _positions_kernel(
    products, hidden, weight, targets, scale, dtrue, dhidden, scaled, dclasses, P, HIDDEN: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    terms = tl.arange(0, HIDDEN)
    inside = terms < P
    vector = tl.load(hidden + row * P + terms, mask=inside, other=0)
    class_row = tl.load(weight + tl.load(targets + row) * P + terms, mask=inside, other=0).to(vector.dtype)
    product = tl.load(products + row * P + terms, mask=inside, other=0).to(tl.float32)
    factor, own = tl.load(scale + row), tl.load(dtrue + row)
    narrow = vector.dtype
    wide = vector.to(tl.float32)
    tl.store(dhidden + row * P + terms, (factor * product + own * class_row.to(tl.float32)).to(narrow), mask=inside)
    tl.store(scaled + row * P + terms, (factor * wide).to(narrow), mask=inside)
    tl.store(dclasses + row * P + terms, own * wide, mask=inside)


@triton.jit
def _sum_kernel(probabilities, scale, partials, M, S, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([COLUMNS], tl.float32)
    for block in range(tl.program_id(1), tl.cdiv(M, ROWS), tl.num_programs(1)):
        rows = (block * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        inside = (rows < M)[:, None] & (columns < S)[None, :]
        tile = tl.load(probabilities + rows[:, None] * S + columns[None, :], mask=inside, other=0).to(tl.float32)
        total += tl.sum(tile * tl.load(scale + rows, mask=rows < M, other=0)[:, None], axis=0)
    tl.store(partials + tl.program_id(1) * S + columns, total, mask=columns < S)


def probabilities_(
    probabilities: Tensor, hidden: Tensor, weight: Tensor, offsets: Tensor, own: Tensor, targets: Tensor, hits: Tensor
) -> Tensor:
    """Logits [M, S] without offsets become the probabilities of the samples, in place: losses [M] in fp32.

    The softmax of position m is over the samples, with offsets [S] added and without number `hits[m]` of them, and its
    target: hidden[m] times row targets[m] of weight [V, P], in the type of hidden, plus own[m]. Offsets are fp32.
    """
    M, S = probabilities.shape
    P = hidden.shape[1]
    losses = torch.empty(M, dtype=torch.float32, device=probabilities.device)
    _probabilities_kernel[(M,)](
        probabilities, hidden, weight, offsets, own, targets, hits, losses, S, P,
        ONCE=S <= ROW_BLOCK, SAMPLES=min(ROW_BLOCK, triton.next_power_of_2(S)), HIDDEN=triton.next_power_of_2(P),
        num_warps=8,
    )  # fmt: skip
    return losses


def position_gradients(
    products: Tensor, hidden: Tensor, weight: Tensor, targets: Tensor, scale: Tensor, dtrue: Tensor, dclasses: Tensor
) -> tuple[Tensor, Tensor]:
    """scale * products + dtrue * the targets' rows, and scale * hidden, both [M, P]; dclasses := dtrue * hidden."""
    M, P = hidden.shape
    dhidden, scaled = torch.empty_like(hidden), torch.empty_like(hidden)
    _positions_kernel[(M,)](
        products, hidden, weight, targets, scale, dtrue, dhidden, scaled, dclasses, P,
        HIDDEN=triton.next_power_of_2(P), num_warps=4 if P > 128 else 1,
    )  # fmt: skip
    return dhidden, scaled


def weighted_column_sum(probabilities: Tensor, scale: Tensor) -> Tensor:
    """scale [M] fp32, probabilities [M, S] -> their product [S], summed in fp32 and in the same order each time."""
    M, S = probabilities.shape
    rows, columns = SUM_TILE
    parts = max(1, min(SUM_PARTS, triton.cdiv(M, rows)))
    partials = torch.empty(parts, S, dtype=torch.float32, device=probabilities.device)
    grid = (triton.cdiv(S, columns), parts)
    _sum_kernel[grid](probabilities, scale, partials, M, S, ROWS=rows, COLUMNS=columns, num_warps=4)
    return partials.sum(dim=0)
