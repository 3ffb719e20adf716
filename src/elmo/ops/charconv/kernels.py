"""Triton kernels of the character convolution: product and maximum in one, and the way back through the windows chosen.

W words in order of descending length, C characters in a row, E character embedding, F filters. All filters are taken as
wide as the widest (K = widest * E terms), zeros behind their own: the matrix units lose little, and one kernel does it.
A window begins at column p. Scores live in registers only: of each word and filter the best one and its p are kept.
Sums over words are cut into blocks and added later, so the result is the same in every run. Importing needs Triton.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

# Words, filters and warps of one program.
POOL_TILE = (64, 64, 4)
WEIGHT_TILE = (64, 128, 8)
EMBEDDED_TILE = (64, 64, 4)
# Columns of the embedded rows (characters * E) in one program of their gradient.
EMBEDDED_COLUMNS = 128
# Positions in one step of the table's gradient, of 16-bit numbers.
TABLE_POSITIONS = 64
# Positions in one program that looks characters up.
EMBED_POSITIONS = 256
# About one program for each multiprocessor of a large GPU.
PROGRAMS = 128


@triton.jit
def _windows(lengths, words, W, C: tl.constexpr):
    """How many windows the longest of these words needs: one more than it has characters, if there is room."""
    return tl.minimum(tl.max(tl.load(lengths + words, mask=words < W, other=0).to(tl.int32)) + 1, C)


@triton.jit
def _chosen(best, dresult, words, rows, filters, inside, F: tl.constexpr):
    """The window that each word and filter chose, and the gradient that goes there; -1 where there is none."""
    at = tl.load(best + words.to(tl.int64)[:, None] * F + filters[None, :], mask=inside, other=0).to(tl.int32)
    gradient = tl.load(dresult + rows[:, None] * F + filters[None, :], mask=inside, other=0)
    return tl.where(inside, at, -1), gradient


@triton.jit
def _pool_kernel(
    embedded, weight, lengths, order, result, best, W,
    C: tl.constexpr, E: tl.constexpr, K: tl.constexpr, F: tl.constexpr, KEEP: tl.constexpr,
    STARTS: tl.constexpr, WIDTHS: tl.constexpr, PRECISION: tl.constexpr,
    WORDS: tl.constexpr, FILTERS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    words = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    filters = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    terms = tl.arange(0, TERMS)
    widths = tl.full([FILTERS], WIDTHS[0], tl.int32)
    for i in tl.static_range(1, len(STARTS)):
        widths = tl.where(filters >= STARTS[i], WIDTHS[i], widths)
    tile = tl.load(
        weight + filters[None, :] * K + terms[:, None], mask=(terms < K)[:, None] & (filters < F)[None, :], other=0
    )  # [TERMS, FILTERS]
    base = embedded + words.to(tl.int64)[:, None] * (C * E)
    highest = tl.full([WORDS, FILTERS], float("-inf"), tl.float32)
    at = tl.zeros([WORDS, FILTERS], tl.int32)
    for p in range(_windows(lengths, words, W, C)):
        columns = p * E + terms
        window = tl.load(
            base + columns[None, :], mask=(words < W)[:, None] & ((columns < C * E) & (terms < K))[None, :], other=0
        )
        score = tl.dot(window, tile, input_precision=PRECISION)
        better = (score > highest) & (p + widths <= C)[None, :]
        highest = tl.where(better, score, highest)
        if KEEP:
            at = tl.where(better, p, at)
    inside = (words < W)[:, None] & (filters < F)[None, :]
    rows = tl.load(order + words, mask=words < W, other=0)
    tl.store(result + rows[:, None] * F + filters[None, :], highest.to(result.dtype.element_ty), mask=inside)
    if KEEP:
        tl.store(best + words.to(tl.int64)[:, None] * F + filters[None, :], at.to(tl.uint8), mask=inside)


@triton.jit
def _weight_kernel(
    embedded, lengths, order, best, dresult, partials, W,
    C: tl.constexpr, E: tl.constexpr, K: tl.constexpr, F: tl.constexpr, PRECISION: tl.constexpr,
    WORDS: tl.constexpr, FILTERS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    filters = tl.program_id(0) * FILTERS + tl.arange(0, FILTERS)
    terms = tl.arange(0, TERMS)
    total = tl.zeros([TERMS, FILTERS], tl.float32)
    for block in range(tl.program_id(1), tl.cdiv(W, WORDS), tl.num_programs(1)):
        words = block * WORDS + tl.arange(0, WORDS)
        rows = tl.load(order + words, mask=words < W, other=0)
        inside = (words < W)[:, None] & (filters < F)[None, :]
        at, gradient = _chosen(best, dresult, words, rows, filters, inside, F)
        base = embedded + words.to(tl.int64)[:, None] * (C * E)
        for p in range(_windows(lengths, words, W, C)):
            columns = p * E + terms
            window = tl.load(
                base + columns[None, :], mask=(words < W)[:, None] & ((columns < C * E) & (terms < K))[None, :], other=0
            )
            dscore = tl.where(at == p, gradient, 0.0).to(gradient.dtype)
            total = tl.dot(tl.trans(window), dscore, total, input_precision=PRECISION)
    tl.store(
        partials + tl.program_id(1).to(tl.int64) * K * F + terms[:, None] * F + filters[None, :],
        total,
        mask=(terms < K)[:, None] & (filters < F)[None, :],
    )


@triton.jit
def _embedded_kernel(
    weight, lengths, order, best, dresult, dembedded, W,
    C: tl.constexpr, E: tl.constexpr, K: tl.constexpr, F: tl.constexpr, PRECISION: tl.constexpr,
    WORDS: tl.constexpr, FILTERS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    words = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    rows = tl.load(order + words, mask=words < W, other=0)
    start = tl.program_id(1) * COLUMNS
    columns = start + tl.arange(0, COLUMNS)
    # The windows that reach into these columns.
    first = tl.maximum(start - K + E, 0) // E
    last = tl.minimum((start + COLUMNS - 1) // E + 1, _windows(lengths, words, W, C))
    total = tl.zeros([WORDS, COLUMNS], tl.float32)
    if first < last:
        for block in range(tl.cdiv(F, FILTERS)):
            filters = block * FILTERS + tl.arange(0, FILTERS)
            inside = (words < W)[:, None] & (filters < F)[None, :]
            at, gradient = _chosen(best, dresult, words, rows, filters, inside, F)
            for p in range(first, last):
                terms = columns - p * E
                tile = tl.load(
                    weight + filters[:, None] * K + terms[None, :],
                    mask=(filters < F)[:, None] & ((terms >= 0) & (terms < K))[None, :],
                    other=0,
                )  # [FILTERS, COLUMNS]
                dscore = tl.where(at == p, gradient, 0.0).to(gradient.dtype)
                total = tl.dot(dscore, tile, total, input_precision=PRECISION)
    tl.store(
        dembedded + words.to(tl.int64)[:, None] * (C * E) + columns[None, :],
        total.to(dembedded.dtype.element_ty),
        mask=(words < W)[:, None] & (columns < C * E)[None, :],
    )


@triton.jit
def _table_kernel(
    ids, dembedded, partials, N, E: tl.constexpr, PRECISION: tl.constexpr,
    CHARACTERS: tl.constexpr, COLUMNS: tl.constexpr, POSITIONS: tl.constexpr,
):  # fmt: skip
    characters = tl.arange(0, CHARACTERS)
    columns = tl.arange(0, COLUMNS)
    total = tl.zeros([CHARACTERS, COLUMNS], tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(N, POSITIONS), tl.num_programs(0)):
        positions = block * POSITIONS + tl.arange(0, POSITIONS)
        found = tl.load(ids + positions, mask=positions < N, other=-1).to(tl.int32)
        values = tl.load(
            dembedded + positions.to(tl.int64)[:, None] * E + columns[None, :],
            mask=(positions < N)[:, None] & (columns < E)[None, :],
            other=0,
        )
        total = tl.dot(
            (characters[:, None] == found[None, :]).to(values.dtype), values, total, input_precision=PRECISION
        )
    place = tl.program_id(0).to(tl.int64) * CHARACTERS * COLUMNS
    tl.store(partials + place + characters[:, None] * COLUMNS + columns[None, :], total)


@triton.jit
def _embed_kernel(ids, table, embedded, N, E: tl.constexpr, COLUMNS: tl.constexpr, POSITIONS: tl.constexpr):
    positions = (tl.program_id(0) * POSITIONS + tl.arange(0, POSITIONS)).to(tl.int64)
    columns = tl.arange(0, COLUMNS)
    inside = (positions < N)[:, None] & (columns < E)[None, :]
    found = tl.load(ids + positions, mask=positions < N, other=0).to(tl.int32)
    rows = tl.load(table + found[:, None] * E + columns[None, :], mask=inside, other=0)
    tl.store(embedded + positions[:, None] * E + columns[None, :], rows, mask=inside)


def _terms(K: int) -> int:
    """Terms of a tile's sum: a power of two, 16 at least."""
    return max(16, int(triton.next_power_of_2(K)))


def _precision(tensor: Tensor) -> str:
    """float32 as three products of its halves, near enough to exact; 16-bit types ignore it."""
    return "tf32x3" if tensor.dtype == torch.float32 else "tf32"


def _stages(tensor: Tensor) -> int:
    """Loads in flight ahead of the products; float32 tiles are large, and small GPUs have 99 KB for all of them."""
    return 1 if tensor.dtype == torch.float32 else 3


def embed(ids: Tensor, table: Tensor) -> Tensor:
    """ids [W, C], table [characters, E] -> [W, C, E]. torch's gather takes a program for each of these short rows."""
    E = table.shape[1]
    embedded = torch.empty(*ids.shape, E, dtype=table.dtype, device=table.device)
    _embed_kernel[(triton.cdiv(ids.numel(), EMBED_POSITIONS),)](
        ids,
        table,
        embedded,
        ids.numel(),
        E=E,
        COLUMNS=triton.next_power_of_2(E),
        POSITIONS=EMBED_POSITIONS,
        num_warps=4,
    )
    return embedded


def pool(
    embedded: Tensor,
    weight: Tensor,
    lengths: Tensor,
    order: Tensor,
    *,
    starts: tuple[int, ...],
    widths: tuple[int, ...],
    keep: bool,
) -> tuple[Tensor, Tensor]:
    """embedded [W, C, E], lengths [W] and order [W] of the sorted words, weight [F, K] -> [W, F] in their own order.

    Filters from `starts[i]` on have the width `widths[i]`. Also, where `keep`, the window chosen: [W, F], sorted.
    """
    W, C, E = embedded.shape
    F, K = weight.shape
    result = torch.empty(W, F, dtype=weight.dtype, device=weight.device)
    best = torch.empty(W if keep else 0, F, dtype=torch.uint8, device=weight.device)
    words, filters, warps = POOL_TILE
    _pool_kernel[(triton.cdiv(W, words), triton.cdiv(F, filters))](
        embedded, weight, lengths, order, result, best, W,
        C=C, E=E, K=K, F=F, KEEP=keep, STARTS=starts, WIDTHS=widths, PRECISION=_precision(weight),
        WORDS=words, FILTERS=filters, TERMS=_terms(K), num_warps=warps, num_stages=_stages(weight),
    )  # fmt: skip
    return result, best


def weight_gradient(
    embedded: Tensor, lengths: Tensor, order: Tensor, best: Tensor, dresult: Tensor, *, K: int
) -> Tensor:
    """The gradient of the weights, [K, F] in float32, from dresult [W, F] in the words' own order."""
    W, C, E = embedded.shape
    F = dresult.shape[1]
    words, filters, warps = WEIGHT_TILE
    blocks = triton.cdiv(F, filters)
    parts = max(1, min(triton.cdiv(W, words), PROGRAMS // blocks))
    partials = torch.empty(parts, K, F, dtype=torch.float32, device=embedded.device)
    _weight_kernel[(blocks, parts)](
        embedded, lengths, order, best, dresult, partials, W,
        C=C, E=E, K=K, F=F, PRECISION=_precision(embedded),
        WORDS=words, FILTERS=filters, TERMS=_terms(K), num_warps=warps, num_stages=_stages(embedded),
    )  # fmt: skip
    return partials.sum(dim=0)


def embedded_gradient(
    weight: Tensor, lengths: Tensor, order: Tensor, best: Tensor, dresult: Tensor, *, C: int, E: int
) -> Tensor:
    """The gradient of the embedded characters, [W, C, E] in the words' sorted order."""
    W, F = dresult.shape
    K = weight.shape[1]
    dembedded = torch.empty(W, C, E, dtype=weight.dtype, device=weight.device)
    words, filters, warps = EMBEDDED_TILE
    _embedded_kernel[(triton.cdiv(W, words), triton.cdiv(C * E, EMBEDDED_COLUMNS))](
        weight, lengths, order, best, dresult, dembedded, W,
        C=C, E=E, K=K, F=F, PRECISION=_precision(weight),
        WORDS=words, FILTERS=filters, COLUMNS=EMBEDDED_COLUMNS, num_warps=warps, num_stages=_stages(weight),
    )  # fmt: skip
    return dembedded


def table_gradient(ids: Tensor, dembedded: Tensor, *, characters: int) -> Tensor:
    """Sum dembedded [W, C, E] over the positions of each character id [W, C]: [characters, E] in float32."""
    E = dembedded.shape[-1]
    rows, columns = _terms(characters), _terms(E)
    positions = TABLE_POSITIONS * 2 // dembedded.dtype.itemsize
    parts = max(1, min(PROGRAMS, triton.cdiv(ids.numel(), positions)))
    partials = torch.empty(parts, rows, columns, dtype=torch.float32, device=ids.device)
    _table_kernel[(parts,)](
        ids, dembedded, partials, ids.numel(), E=E, PRECISION=_precision(dembedded),
        CHARACTERS=rows, COLUMNS=columns, POSITIONS=positions, num_warps=8, num_stages=_stages(dembedded),
    )  # fmt: skip
    return partials.sum(dim=0)[:characters, :E]
