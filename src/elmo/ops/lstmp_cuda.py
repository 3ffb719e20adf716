"""The projected LSTM on a GPU: cuBLAS for the products, one Triton kernel between two of them. Importing needs Triton.

The structure is that of `lstmp_training`; what differs, with the reason:
- Input and recurrent product are one (`Plan.folded`), x and h side by side: at many rows the gates are then written
  once and read once. At few rows a step is bound by reading its weights, and the input product stands before the loop.
- Sums over a long axis (the projection, the way back through the gates) are cut into S pieces, one batched product, and
  the kernel that clips adds the pieces in float32: with few output tiles nothing else fills the chip.
- Gates are kept as the product wrote them, in the input's type, and activated again on the way back: arithmetic is free
  beside memory. Cell states are float32.
- Directions and blocks of rows may run apart (`Plan.apart`, `Plan.row_blocks`), so that what one kernel leaves in the
  cache is there for the next; and on streams of their own, small kernels of one under the products of another.
Nothing synchronizes or depends on values (where `lengths` is None), so a step can be captured in a CUDA graph.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops import lstmp_kernels as kernels
from elmo.ops.lstmp_reference import LSTMPState, LSTMPWeights

# A piece of a cut sum keeps at least this many terms: shorter ones cost more in partial results than they gain.
SHORTEST_PIECE = 256


class Plan(NamedTuple):
    """How the products are cut. The results agree up to rounding."""

    folded: bool  # input and recurrent product in one, inside the loop
    projection_splits: int  # pieces of the projection's sum over H
    recurrent_splits: int  # pieces of the backward sum over 4H
    apart: bool = False  # each direction in a loop of its own
    row_blocks: int = 1  # so many equal blocks of rows, each in a loop of its own
    streams: int = 1  # that the loops run on side by side


def plan_for(R: int, B: int, D: int, H: int, P: int) -> Plan:
    """The plan for so many rows: enough tiles of 128 x 128 results for each of about 132 multiprocessors."""
    row_tiles = R * -(-B // 128)
    folded = B >= 128
    return Plan(
        folded=folded,
        projection_splits=_splits(128 // (row_tiles * -(-P // 128)), H),
        recurrent_splits=_splits(128 // (row_tiles * -(-(P + D * folded) // 128)), 4 * H),
    )


def _splits(wanted: int, size: int) -> int:
    """The largest power of two up to `wanted` that cuts `size` into equal pieces that are long enough."""
    splits = 1
    while 2 * splits <= wanted and size % (16 * splits) == 0 and size // (2 * splits) >= SHORTEST_PIECE:
        splits *= 2
    return splits


def lstmp_cuda(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    lengths: Tensor | None,
    alive: list[int],
    cell_clip: float | None,
    projection_clip: float | None,
    plan: Plan | None = None,
) -> tuple[Tensor, LSTMPState]:
    """See `lstmp_reference` for the meaning. Weights may be wider than x (float32 masters); so are their gradients."""
    R, _, B, D = x.shape
    plan = plan or plan_for(R, B, D, state.c.shape[-1], state.h.shape[-1])
    rules = _Rules(lengths, alive, cell_clip, None if weights.projection is None else projection_clip, plan)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, *state, *weights)):
        y, h, c = _Fused.apply(x, *state, *weights, rules)  # type: ignore[no-untyped-call]
    else:
        y, h, c, _ = _forward(x, state.h, state.c, *weights, rules, keep=False)
    return y, LSTMPState(h, c)


class _Rules(NamedTuple):
    lengths: Tensor | None
    alive: list[int]
    cell_clip: float | None
    projection_clip: float | None
    plan: Plan


class _Kept(NamedTuple):
    """What the backward pass needs. K is D + P where the products are folded, else P."""

    inputs: Tensor  # [T + 1, B, R, K]: what each step's product reads; the last P columns are h before the step
    gates: Tensor  # [T, B, R, 4H], without bias
    cells: Tensor  # [T + 1, R, B, H] before each step
    m: Tensor  # [T, B, R, H]
    unclipped: Tensor | None  # [T, B, R, P], 1 where the output was within its clip
    stacked: Tensor  # [R, 4H, K]: the weights of `inputs`
    projection: Tensor | None  # [R, H, P] in the type of x


class _Unit(NamedTuple):
    """Directions and rows that run together, apart from the others."""

    first: int
    directions: int
    start: int
    rows: int

    def of(self, tensor: Tensor, *, direction: int, row: int | None = None) -> Tensor:
        """The unit's part of a tensor, whose axes of directions and of rows are given."""
        tensor = tensor.narrow(direction, self.first, self.directions)
        return tensor if row is None else tensor.narrow(row, self.start, self.rows)

    def alive(self, n: int) -> int:
        """How many of the unit's rows are among the first `n` of all."""
        return min(max(n - self.start, 0), self.rows)


def _units(R: int, B: int, plan: Plan) -> list[_Unit]:
    directions = [(r, 1) for r in range(R)] if plan.apart else [(0, R)]
    rows = -(-B // plan.row_blocks)
    blocks = [(start, min(rows, B - start)) for start in range(0, B, rows)]
    return [_Unit(*direction, *block) for direction in directions for block in blocks]


def _run(loop: Callable[[_Unit, Tensor], None], units: list[_Unit], scratch: int, streams: int, like: Tensor) -> None:
    """Each unit's loop with `scratch` float32 numbers for each of its rows and directions, on streams in turn."""
    largest = max(unit.directions * unit.rows for unit in units)
    memory = torch.empty(len(units), largest * scratch, dtype=torch.float32, device=like.device)
    if streams == 1 or not like.is_cuda:
        for unit, own in zip(units, memory, strict=True):
            loop(unit, own)
        return
    current = torch.cuda.current_stream(like.device)
    side = [torch.cuda.Stream(like.device) for _ in range(streams)]
    for stream in side:
        stream.wait_stream(current)
    for k, unit in enumerate(units):
        with torch.cuda.stream(side[k % streams]):
            loop(unit, memory[k])
    for stream in side:
        current.wait_stream(stream)


def _bmm_float32(a: Tensor, b: Tensor, out: Tensor) -> None:
    """The product, left in float32 as it was summed."""
    if a.dtype == torch.float32:
        torch.bmm(a, b, out=out)
    else:
        torch.bmm(a, b, out_dtype=torch.float32, out=out)


def _bmm_as(a: Tensor, b: Tensor, dtype: torch.dtype) -> Tensor:
    if a.dtype == dtype:
        return torch.bmm(a, b)
    return torch.bmm(a, b, out_dtype=dtype)


def _cut_sum(a: Tensor, b: Tensor, splits: int, scratch: Tensor) -> Tensor:
    """a [rows, R, N] times b [R, N, K] in `splits` pieces of the sum over N: float32 [R * splits, rows, K]."""
    rows, R, N = a.shape
    K, piece = b.shape[-1], N // splits
    pieces = a.as_strided((R * splits, rows, piece), (piece, a.stride(0), 1), a.storage_offset())
    out = scratch[: R * splits * rows * K].view(R * splits, rows, K)
    _bmm_float32(pieces, b.reshape(R * splits, piece, K), out)
    return out


def _forward(
    x: Tensor,
    h0: Tensor,
    c0: Tensor,
    weight_x: Tensor,
    weight_h: Tensor,
    bias: Tensor,
    projection: Tensor | None,
    rules: _Rules,
    *,
    keep: bool,
) -> tuple[Tensor, Tensor, Tensor, _Kept]:
    R, T, B, D = x.shape
    H, P = c0.shape[-1], h0.shape[-1]
    plan, lengths, device = rules.plan, rules.lengths, x.device
    # What no step writes must still be zero in the products over all steps.
    new = torch.empty if lengths is None else torch.zeros
    K = D + P if plan.folded else P
    slots = T if keep else 1
    inputs = new(T + 1, B, R, K, dtype=x.dtype, device=device)
    inputs[0, ..., K - P :] = h0.transpose(0, 1)
    stacked = torch.empty(R, 4 * H, K, dtype=x.dtype, device=device)
    kernels.transpose_into(weight_h.contiguous(), stacked[..., K - P :])
    gates = torch.empty(slots if plan.folded else T, B, R, 4 * H, dtype=x.dtype, device=device)
    if plan.folded:
        inputs[:T, ..., :D] = x.permute(1, 2, 0, 3)
        kernels.transpose_into(weight_x.contiguous(), stacked[..., :D])
    else:
        hoisted = gates.view(T * B, R, 4 * H).transpose(0, 1)  # [R, T * B, 4H]
        torch.bmm(x.reshape(R, T * B, D), weight_x.to(x.dtype), out=hoisted)
    cells = new(T + 1 if keep else 1, R, B, H, dtype=torch.float32, device=device)
    cells[0] = c0
    y = new(R, T, B, P, dtype=x.dtype, device=device)
    bias = bias.contiguous()
    unclipped = None
    if projection is None:
        m = inputs[1:, ..., K - P :]
    else:
        projection = projection.to(x.dtype)
        m = new(slots, B, R, H, dtype=x.dtype, device=device)
        if rules.projection_clip is not None:
            unclipped = new(slots, B, R, P, dtype=torch.uint8, device=device)

    def loop(unit: _Unit, scratch: Tensor) -> None:
        unit_inputs, unit_gates = unit.of(inputs, direction=2, row=1), unit.of(gates, direction=2, row=1)
        unit_m, unit_cells = unit.of(m, direction=2, row=1), unit.of(cells, direction=1, row=2)
        unit_y, unit_bias = unit.of(y, direction=0, row=2), unit.of(bias, direction=0)
        unit_unclipped = None if unclipped is None else unit.of(unclipped, direction=2, row=1)
        weight = unit.of(stacked, direction=0).mT  # [R, K, 4H]
        for t, n in enumerate(map(unit.alive, rules.alive)):
            if n == 0:
                break
            slot = t if keep else 0
            step = unit_gates[slot if plan.folded else t, :n]  # [n, R, 4H]
            before = unit_inputs[t, :n].transpose(0, 1)  # [R, n, K]
            if plan.folded:
                torch.bmm(before, weight, out=step.transpose(0, 1))
            else:
                step.transpose(0, 1).baddbmm_(before, weight)
            m_t = unit_m[t if projection is None else slot, :n]
            c_t, new_c = unit_cells[slot, :, :n], unit_cells[slot + keep, :, :n]
            kernels.cell(step, unit_bias, c_t, new_c, m_t, clip=rules.cell_clip)
            if projection is not None:
                kernels.output(
                    _cut_sum(m_t, unit.of(projection, direction=0), plan.projection_splits, scratch),
                    unit_y[:, t, :n],
                    unit_inputs[t + 1, :n, :, K - P :],
                    None if unit_unclipped is None else unit_unclipped[slot, :n],
                    clip=rules.projection_clip,
                )

    _run(loop, _units(R, B, plan), plan.projection_splits * P, plan.streams, x)
    if projection is None:
        y.copy_(inputs[1:, ..., K - P :].permute(2, 0, 1, 3))
    if lengths is None:
        h, c = inputs[T, ..., K - P :], cells[-1].clone()
    else:
        rows = torch.arange(B, device=device)
        h = inputs[lengths, rows][..., K - P :]
        c = cells[lengths, :, rows].transpose(0, 1).contiguous() if keep else cells[0]
    kept = _Kept(inputs, gates, cells, m, unclipped, stacked, projection)
    return y, h.transpose(0, 1).contiguous(), c, kept


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        h0: Tensor,
        c0: Tensor,
        weight_x: Tensor,
        weight_h: Tensor,
        bias: Tensor,
        projection: Tensor | None,
        rules: _Rules,
    ) -> tuple[Tensor, Tensor, Tensor]:
        y, h, c, kept = _forward(x, h0, c0, weight_x, weight_h, bias, projection, rules, keep=True)
        # Folded, x stands in `inputs`; the weights are needed for the type of their gradients, or for dx.
        ctx.save_for_backward(x, weight_x, weight_h, bias, projection)
        ctx.kept, ctx.rules = kept, rules
        return y, h, c

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor, dh: Tensor, dc: Tensor) -> tuple[Tensor | None, ...]:
        x, weight_x, weight_h, bias, projection = ctx.saved_tensors
        kept: _Kept = ctx.kept
        # The gates become their gradients in place, unless the caller keeps the graph for another pass.
        if torch._C._autograd._get_current_graph_task_keep_graph():
            kept = kept._replace(gates=kept.gates.clone())
        else:
            ctx.kept = None
        with torch.autocast(x.device.type, enabled=False):
            return *_backward(ctx, x, weight_x, weight_h, bias, projection, kept, dy, dh, dc), None


def _backward(
    ctx: Any,
    x: Tensor,
    weight_x: Tensor,
    weight_h: Tensor,
    bias: Tensor,
    projection: Tensor | None,
    kept: _Kept,
    dy: Tensor,
    dh: Tensor,
    dc: Tensor,
) -> tuple[Tensor | None, ...]:
    inputs, gates, cells, m, unclipped, stacked, cast_projection = kept
    rules: _Rules = ctx.rules
    plan, device = rules.plan, x.device
    R, T, B, D = x.shape
    H, K = cells.shape[-1], inputs.shape[-1]
    P = K - D if plan.folded else K
    new = torch.empty if rules.lengths is None else torch.zeros
    dy, dh, dc = dy.contiguous(), dh.contiguous(), dc.clone(memory_format=torch.contiguous_format)
    dh0 = torch.empty_like(dh)
    dx = new(R, T, B, D, dtype=x.dtype, device=device) if plan.folded else None
    dp = new(T, B, R, P, dtype=x.dtype, device=device)  # gradient of the output before its clip
    dm = None if projection is None else torch.empty(B, R, H, dtype=x.dtype, device=device)
    units = _units(R, B, plan)
    dbias = [kernels.bias_partials(unit.rows, unit.directions, H, device=device) for unit in units]
    bias_values = bias.contiguous()

    def loop(unit: _Unit, scratch: Tensor) -> None:
        unit_gates, unit_dp = unit.of(gates, direction=2, row=1), unit.of(dp, direction=2, row=1)
        unit_cells, unit_dc = unit.of(cells, direction=1, row=2), unit.of(dc, direction=0, row=1)
        unit_dy, unit_dh = unit.of(dy, direction=0, row=2), unit.of(dh, direction=0, row=1)
        unit_dx = None if dx is None else unit.of(dx, direction=0, row=2)
        unit_dm = None if dm is None else unit.of(dm, direction=1, row=0)
        unit_unclipped = None if unclipped is None else unit.of(unclipped, direction=2, row=1)
        unit_bias, unit_dbias = unit.of(bias_values, direction=0), dbias[units.index(unit)]
        weight = unit.of(stacked, direction=0)
        back = None if cast_projection is None else unit.of(cast_projection, direction=0).mT
        partials = scratch[:0].view(unit.directions * plan.recurrent_splits, 0, K)
        for t in reversed(range(T)):
            n = unit.alive(rules.alive[t])
            if n < unit.rows:
                unit_gates[t, n:] = 0
            if n == 0:
                continue
            dp_t = unit_dp[t, :n]  # [n, R, P]
            kernels.output_backward(
                partials,
                unit_dh[:, :n],
                None if unit_dx is None or t + 1 == T else unit_dx[:, t + 1],
                unit_dy[:, t, :n],
                None if unit_unclipped is None else unit_unclipped[t, :n],
                dp_t.transpose(0, 1),
            )
            dm_t = dp_t
            if unit_dm is not None and back is not None:
                dm_t = unit_dm[:n]
                torch.bmm(dp_t.transpose(0, 1), back, out=dm_t.transpose(0, 1))
            step = unit_gates[t, :n]
            kernels.cell_backward(
                step, unit_bias, unit_cells[t, :, :n], unit_dc[:, :n], dm_t, unit_dbias, clip=rules.cell_clip
            )
            partials = _cut_sum(step, weight, plan.recurrent_splits, scratch)
        first_dx = None if unit_dx is None else unit_dx[:, 0]
        kernels.output_backward(partials, unit_dh, first_dx, None, None, unit.of(dh0, direction=0, row=1))

    _run(loop, units, plan.recurrent_splits * K, plan.streams, x)
    dgates = gates.view(T * B, R, 4 * H).transpose(0, 1)  # [R, T * B, 4H]
    steps = inputs[:T].view(T * B, R, K).permute(1, 2, 0)  # [R, K, T * B]
    need_x, need_h, need_c, need_wx, need_wh, need_bias, need_p, _ = ctx.needs_input_grad
    if dx is None and need_x:
        dx = torch.bmm(dgates, weight_x.to(x.dtype).mT).view(R, T, B, D)
    dweight_x, dweight_h, dprojection = None, None, None
    if need_wx:
        by_column = steps[:, :D] if plan.folded else x.reshape(R, T * B, D).mT
        dweight_x = _bmm_as(by_column, dgates, weight_x.dtype)
    if need_wh:
        dweight_h = _bmm_as(steps[:, K - P :], dgates, weight_h.dtype)
    if need_p:
        assert projection is not None
        dprojection = _bmm_as(
            m.view(T * B, R, H).permute(1, 2, 0), dp.view(T * B, R, P).transpose(0, 1), projection.dtype
        )
    return (
        dx if need_x else None,
        dh0 if need_h else None,
        dc if need_c else None,
        dweight_x,
        dweight_h,
        _sum_of_units(units, dbias, R).to(bias.dtype) if need_bias else None,
        dprojection,
    )


def _sum_of_units(units: list[_Unit], partials: list[Tensor], R: int) -> Tensor:
    """The bias's gradient [R, 4H] from the sums of each unit's blocks of rows."""
    total = partials[0].new_zeros(R, partials[0].shape[-1])
    for unit, partial in zip(units, partials, strict=True):
        unit.of(total, direction=0).add_(partial.sum(dim=1))
    return total
