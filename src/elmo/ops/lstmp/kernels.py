"""Triton kernels of the projected LSTM: all that stands between its matrix products, each one pass over memory.

Sizes as in `lstmp_reference`; K columns of the recurrent product's input, S pieces that a long sum was cut into.
Wide buffers of one step are [B, R, .], so that a piece of the last axis of any direction is one regular stride away
from the next: that is what lets a single batched product cut its sum into pieces (`lstmp_cuda`).
Arithmetic is in float32 whatever the storage. Importing this module needs Triton.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

from elmo.ops.steps import FORGET_BIAS

# Rows, columns and warps of one program. A thread of the cell's kernels holds four columns: 16 bytes of float32.
CELL_COLUMNS, CELL_WARPS = 512, 4
CELL_ROWS = 4
# Each program sums the bias's gradient over its rows, so it has many, but not so many that few programs are left.
CELL_BACKWARD_ROWS = (4, 16)
REDUCE_TILE = (4, 256, 4)
STACK_TILE = (64, 64, 4)

_FORGET_BIAS = tl.constexpr(FORGET_BIAS)


@triton.jit
def _tanh(x, APPROXIMATE: tl.constexpr):
    if APPROXIMATE:
        return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    else:  # noqa: RET505 - Triton follows both branches of what is not written as one choice
        return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _sigmoid(x, APPROXIMATE: tl.constexpr):
    if APPROXIMATE:
        return 0.5 * _tanh(0.5 * x, APPROXIMATE) + 0.5
    else:  # noqa: RET505
        return tl.sigmoid(x)


@triton.jit
def _load_bias(bias, inside, H: tl.constexpr):
    i = tl.load(bias, mask=inside, other=0).to(tl.float32)
    j = tl.load(bias + H, mask=inside, other=0).to(tl.float32)
    f = tl.load(bias + 2 * H, mask=inside, other=0).to(tl.float32) + _FORGET_BIAS
    o = tl.load(bias + 3 * H, mask=inside, other=0).to(tl.float32)
    return i, j, f, o


@triton.jit
def _cell(gates, before, bias_i, bias_j, bias_f, bias_o, inside, H: tl.constexpr, APPROXIMATE: tl.constexpr):
    """The four activated gates, the cell before, and the new cell before its clip, of one row."""
    i = tl.load(gates, mask=inside, other=0).to(tl.float32)
    j = tl.load(gates + H, mask=inside, other=0).to(tl.float32)
    f = tl.load(gates + 2 * H, mask=inside, other=0).to(tl.float32)
    o = tl.load(gates + 3 * H, mask=inside, other=0).to(tl.float32)
    c = tl.load(before, mask=inside, other=0)
    i, j = _sigmoid(i + bias_i, APPROXIMATE), _tanh(j + bias_j, APPROXIMATE)
    f, o = _sigmoid(f + bias_f, APPROXIMATE), _sigmoid(o + bias_o, APPROXIMATE)
    return i, j, f, o, c, f * c + i * j


@triton.jit
def _cell_kernel(
    gates, bias, before, after, m,
    gates_b, gates_r, c_b, c_r, m_b, m_r, B, clip,
    H: tl.constexpr, CLIPPED: tl.constexpr, APPROXIMATE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(2).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    bias_i, bias_j, bias_f, bias_o = _load_bias(bias + r * 4 * H + columns, columns < H, H)
    for k in tl.static_range(ROWS):
        row = (tl.program_id(0) * ROWS + k).to(tl.int64)
        inside = (columns < H) & (row < B)
        step = gates + r * gates_r + row * gates_b + columns
        cells = r * c_r + row * c_b + columns
        _, _, _, o, _, c = _cell(step, before + cells, bias_i, bias_j, bias_f, bias_o, inside, H, APPROXIMATE)
        if CLIPPED:
            c = tl.minimum(tl.maximum(c, -clip), clip)
        tl.store(after + cells, c, mask=inside)
        tl.store(m + r * m_r + row * m_b + columns, (o * _tanh(c, APPROXIMATE)).to(m.dtype.element_ty), mask=inside)


@triton.jit
def _add_into(pointers, value, inside):
    tl.store(pointers, tl.load(pointers, mask=inside, other=0) + value, mask=inside)


@triton.jit
def _cell_backward_kernel(
    gates, bias, before, dc, dm, dbias,
    gates_b, gates_r, c_b, c_r, dc_b, dc_r, dm_b, dm_r, B, clip,
    H: tl.constexpr, CLIPPED: tl.constexpr, APPROXIMATE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(2).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    bias_i, bias_j, bias_f, bias_o = _load_bias(bias + r * 4 * H + columns, columns < H, H)
    sum_i = tl.zeros([COLUMNS], tl.float32)
    sum_j = tl.zeros([COLUMNS], tl.float32)
    sum_f = tl.zeros([COLUMNS], tl.float32)
    sum_o = tl.zeros([COLUMNS], tl.float32)
    for k in range(ROWS):
        row = (tl.program_id(0) * ROWS + k).to(tl.int64)
        inside = (columns < H) & (row < B)
        step = gates + r * gates_r + row * gates_b + columns
        dcells = dc + r * dc_r + row * dc_b + columns
        dm_row = tl.load(dm + r * dm_r + row * dm_b + columns, mask=inside, other=0).to(tl.float32)
        dcell = tl.load(dcells, mask=inside, other=0)
        i, j, f, o, c, raw = _cell(
            step, before + r * c_r + row * c_b + columns, bias_i, bias_j, bias_f, bias_o, inside, H, APPROXIMATE
        )
        # Computed again from what the forward pass read, so the clip's mask is exact without being stored.
        passed = inside
        if CLIPPED:
            passed = inside & (tl.abs(raw) <= clip)
            raw = tl.minimum(tl.maximum(raw, -clip), clip)
        tanh = _tanh(raw, APPROXIMATE)
        dcell = tl.where(passed, dcell + dm_row * o * (1 - tanh * tanh), 0)
        di = dcell * j * i * (1 - i)
        dj = dcell * i * (1 - j * j)
        df = dcell * c * f * (1 - f)
        do = dm_row * tanh * o * (1 - o)
        tl.store(dcells, dcell * f, mask=inside)
        tl.store(step, di.to(gates.dtype.element_ty), mask=inside)
        tl.store(step + H, dj.to(gates.dtype.element_ty), mask=inside)
        tl.store(step + 2 * H, df.to(gates.dtype.element_ty), mask=inside)
        tl.store(step + 3 * H, do.to(gates.dtype.element_ty), mask=inside)
        sum_i += di
        sum_j += dj
        sum_f += df
        sum_o += do
    # Each block of rows has its own sums over all steps: no atomics, so the same result in every run.
    dbias = dbias + (r * tl.num_programs(0) + tl.program_id(0)) * 4 * H + columns
    _add_into(dbias, sum_i, columns < H)
    _add_into(dbias + H, sum_j, columns < H)
    _add_into(dbias + 2 * H, sum_f, columns < H)
    _add_into(dbias + 3 * H, sum_o, columns < H)


@triton.jit
def _output_kernel(
    partials, y, h, unclipped,
    y_b, y_r, h_b, h_r, u_b, u_r, B, clip,
    P: tl.constexpr, S: tl.constexpr, CLIPPED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(2).to(tl.int64)
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (rows < B) & (columns < P)
    partials = partials + r * S * B * P + rows * P + columns
    total = tl.load(partials, mask=inside, other=0).to(tl.float32)
    for s in tl.static_range(1, S):
        total += tl.load(partials + s * B * P, mask=inside, other=0).to(tl.float32)
    if CLIPPED:
        tl.store(unclipped + r * u_r + rows * u_b + columns, (tl.abs(total) <= clip).to(tl.uint8), mask=inside)
        total = tl.minimum(tl.maximum(total, -clip), clip)
    tl.store(y + r * y_r + rows * y_b + columns, total.to(y.dtype.element_ty), mask=inside)
    tl.store(h + r * h_r + rows * h_b + columns, total.to(h.dtype.element_ty), mask=inside)


@triton.jit
def _output_backward_kernel(
    partials, last, dx, dy, unclipped, out,
    last_b, last_r, dx_b, dx_r, dy_b, dy_r, u_b, u_r, out_b, out_r, B, done,
    D: tl.constexpr, P: tl.constexpr, S: tl.constexpr,
    DY: tl.constexpr, CLIPPED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    K: tl.constexpr = D + P
    r = tl.program_id(2).to(tl.int64)
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    summed = (rows < done) & (columns < K)
    partials = partials + r * S * done * K + rows * K + columns
    total = tl.load(partials, mask=summed, other=0).to(tl.float32)
    for s in tl.static_range(1, S):
        total += tl.load(partials + s * done * K, mask=summed, other=0).to(tl.float32)
    if D > 0:
        tl.store(dx + r * dx_r + rows * dx_b + columns, total.to(dx.dtype.element_ty), mask=summed & (columns < D))
    columns -= D
    inside = (rows < B) & (columns >= 0) & (columns < P)
    total += tl.load(last + r * last_r + rows * last_b + columns, mask=inside & (rows >= done), other=0).to(tl.float32)
    if DY:
        total += tl.load(dy + r * dy_r + rows * dy_b + columns, mask=inside, other=0).to(tl.float32)
    if CLIPPED:
        passed = tl.load(unclipped + r * u_r + rows * u_b + columns, mask=inside, other=0)
        total = tl.where(passed != 0, total, 0)
    tl.store(out + r * out_r + rows * out_b + columns, total.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _stack_kernel(
    source, target, source_r, source_k, target_r, target_g, K, G, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    r = tl.program_id(2).to(tl.int64)
    k = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    g = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    tile = tl.load(
        source + r * source_r + k[:, None].to(tl.int64) * source_k + g[None, :],
        mask=(k < K)[:, None] & (g < G)[None, :],
    )
    tl.store(
        target + r * target_r + g[:, None].to(tl.int64) * target_g + k[None, :],
        tl.trans(tile).to(target.dtype.element_ty),
        mask=(g < G)[:, None] & (k < K)[None, :],
    )


def _approximate(gates: Tensor) -> bool:
    # Where gates are kept in 16 bits, the hardware's tanh (a relative error of 2^-11) is as good as they are.
    return gates.dtype.itemsize < 4


def cell(gates: Tensor, bias: Tensor, before: Tensor, after: Tensor, m: Tensor, *, clip: float | None) -> None:
    """gates [B, R, 4H] without bias, before [R, B, H] -> after [R, B, H] (may be `before`) and m [B, R, H]."""
    R, B, H = before.shape
    _cell_kernel[(triton.cdiv(B, CELL_ROWS), triton.cdiv(H, CELL_COLUMNS), R)](
        gates, bias, before, after, m,
        gates.stride(0), gates.stride(1), before.stride(1), before.stride(0), m.stride(0), m.stride(1),
        B, 0.0 if clip is None else clip,
        H=H, CLIPPED=clip is not None, APPROXIMATE=_approximate(gates),
        ROWS=CELL_ROWS, COLUMNS=CELL_COLUMNS, num_warps=CELL_WARPS,
    )  # fmt: skip


def bias_partials(B: int, R: int, H: int, *, device: torch.device) -> Tensor:
    """Where `cell_backward` adds up the bias's gradient: [R, blocks of rows, 4H], to be summed over the blocks."""
    return torch.zeros(R, triton.cdiv(B, _backward_rows(B)), 4 * H, device=device, dtype=torch.float32)


def _backward_rows(B: int) -> int:
    fewest, most = CELL_BACKWARD_ROWS
    return min(max(int(triton.next_power_of_2(B)) // 32, fewest), most)


def cell_backward(
    gates: Tensor, bias: Tensor, before: Tensor, dc: Tensor, dm: Tensor, dbias: Tensor, *, clip: float | None
) -> None:
    """The gates [B, R, 4H] become their gradients, dc [R, B, H] that of the cell before; dm [B, R, H] is read.

    `dbias` comes from `bias_partials`, for as many rows or more.
    """
    R, B, H = before.shape
    rows = triton.next_power_of_2(triton.cdiv(B, dbias.shape[1]))
    _cell_backward_kernel[(dbias.shape[1], triton.cdiv(H, CELL_COLUMNS), R)](
        gates, bias, before, dc, dm, dbias,
        gates.stride(0), gates.stride(1), before.stride(1), before.stride(0), dc.stride(1), dc.stride(0),
        dm.stride(0), dm.stride(1), B, 0.0 if clip is None else clip,
        H=H, CLIPPED=clip is not None, APPROXIMATE=_approximate(gates),
        ROWS=rows, COLUMNS=CELL_COLUMNS, num_warps=CELL_WARPS,
    )  # fmt: skip


def output(partials: Tensor, y: Tensor, h: Tensor, unclipped: Tensor | None, *, clip: float | None) -> None:
    """Sum the pieces [R * S, B, P], clip, write to y [R, B, P] and h [B, R, P]; note in [B, R, P] what was within."""
    R, B, P = y.shape
    rows, columns, warps = REDUCE_TILE
    noted = y if unclipped is None else unclipped.transpose(0, 1)
    _output_kernel[(triton.cdiv(B, rows), triton.cdiv(P, columns), R)](
        partials, y, h, noted,
        y.stride(1), y.stride(0), h.stride(0), h.stride(1), noted.stride(1), noted.stride(0),
        B, 0.0 if clip is None else clip,
        P=P, S=len(partials) // R, CLIPPED=clip is not None, ROWS=rows, COLUMNS=columns, num_warps=warps,
    )  # fmt: skip


def output_backward(
    partials: Tensor, last: Tensor, dx: Tensor | None, dy: Tensor | None, unclipped: Tensor | None, out: Tensor
) -> None:
    """Sum the pieces [R * S, rows, K]: the first D columns are dx [R, B, D], the others go on to out [R, B, P].

    Rows that the following step did not have get `last` [R, B, P], the gradient of the final state, instead.
    `dy` [R, B, P] is added and what was clipped (`unclipped` [B, R, P] is 0) set to zero.
    """
    R, B, P = out.shape
    done, K = partials.shape[1:]
    rows, columns, warps = REDUCE_TILE
    if dx is None:
        dx = out
    noted = out if unclipped is None else unclipped.transpose(0, 1)
    added = out if dy is None else dy
    _output_backward_kernel[(triton.cdiv(B, rows), triton.cdiv(K, columns), R)](
        partials, last, dx, added, noted, out,
        last.stride(1), last.stride(0), dx.stride(1), dx.stride(0), added.stride(1), added.stride(0),
        noted.stride(1), noted.stride(0), out.stride(1), out.stride(0), B, done,
        D=K - P, P=P, S=len(partials) // R, DY=dy is not None, CLIPPED=unclipped is not None,
        ROWS=rows, COLUMNS=columns, num_warps=warps,
    )  # fmt: skip


def transpose_into(source: Tensor, target: Tensor) -> None:
    """target [R, G, K] = source [R, K, G] turned round, cast on the way. Both contiguous along their last axis."""
    R, K, G = source.shape
    rows, columns, warps = STACK_TILE
    _stack_kernel[(triton.cdiv(K, rows), triton.cdiv(G, columns), R)](
        source, target, source.stride(0), source.stride(1), target.stride(0), target.stride(1), K, G,
        ROWS=rows, COLUMNS=columns, num_warps=warps,
    )  # fmt: skip
