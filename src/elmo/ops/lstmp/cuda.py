"""The projected LSTM on a GPU: cuBLAS for the products, one Triton kernel between two of them. Importing needs Triton.

The structure is that of `lstmp_training`; what differs, with the reason:
- Input and recurrent product are one (`Split.folded`), x and h side by side: at many rows the gates are then written
  once and read once. At few rows a step is bound by reading its weights, and the input product stands before the loop.
- Sums over a long axis (the projection, the way back through the gates) are cut into S pieces, one batched product, and
  the kernel that clips adds the pieces in float32: with few output tiles nothing else fills the chip.
- Gates are kept as the product wrote them, in the input's type, and activated again on the way back: arithmetic is free
  beside memory. Cell states are float32.
Nothing synchronizes or depends on values (where `lengths` is None), so a step can be captured in a CUDA graph.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops.gpu.products import product_as
from elmo.ops.lstmp import kernels
from elmo.ops.lstmp.reference import LSTMPWeights
from elmo.ops.steps import LSTMPState

# A piece of a cut sum keeps at least this many terms: shorter ones cost more in partial results than they gain.
SHORTEST_PIECE = 256


class Split(NamedTuple):
    """How the products are cut. The results agree up to rounding."""

    folded: bool  # input and recurrent product in one, inside the loop
    projection_splits: int  # pieces of the projection's sum over H
    recurrent_splits: int  # pieces of the backward sum over 4H


def split_for(R: int, B: int, D: int, H: int, P: int) -> Split:
    """The split for so many rows: enough tiles of 128 x 128 results for each of about 132 multiprocessors."""
    row_tiles = R * -(-B // 128)
    folded = B >= 128
    return Split(
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
    split: Split | None = None,
) -> tuple[Tensor, LSTMPState]:
    """See `lstmp_reference` for the meaning. Weights may be wider than x (float32 masters); so are their gradients."""
    R, _, B, D = x.shape
    split = split or split_for(R, B, D, state.c.shape[-1], state.h.shape[-1])
    rules = _Rules(lengths, alive, cell_clip, None if weights.projection is None else projection_clip, split)
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
    split: Split


class _Kept(NamedTuple):
    """What the backward pass needs. K is D + P where the products are folded, else P."""

    inputs: Tensor  # [T + 1, B, R, K]: what each step's product reads; the last P columns are h before the step
    gates: Tensor  # [T, B, R, 4H], without bias
    cells: Tensor  # [T + 1, R, B, H] before each step
    m: Tensor  # [T, B, R, H]
    unclipped: Tensor | None  # [T, B, R, P], 1 where the output was within its clip
    stacked: Tensor  # [R, 4H, K]: the weights of `inputs`
    projection: Tensor | None  # [R, H, P] in the type of x


def _cut_sum(a: Tensor, b: Tensor, splits: int, scratch: Tensor) -> Tensor:
    """a [rows, R, N] times b [R, N, K] in `splits` pieces of the sum over N: float32 [R * splits, rows, K]."""
    rows, R, N = a.shape
    K, piece = b.shape[-1], N // splits
    pieces = a.as_strided((R * splits, rows, piece), (piece, a.stride(0), 1), a.storage_offset())
    out = scratch[: R * splits * rows * K].view(R * splits, rows, K)
    return product_as(pieces, b.reshape(R * splits, piece, K), torch.float32, out=out)


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
    split, lengths, device = rules.split, rules.lengths, x.device
    # What no step writes must still be zero in the products over all steps.
    new = torch.empty if lengths is None else torch.zeros
    K = D + P if split.folded else P
    slots = T if keep else 1
    inputs = new(T + 1, B, R, K, dtype=x.dtype, device=device)
    inputs[0, ..., K - P :] = h0.transpose(0, 1)
    stacked = torch.empty(R, 4 * H, K, dtype=x.dtype, device=device)
    kernels.transpose_into(weight_h.contiguous(), stacked[..., K - P :])
    gates = torch.empty(slots if split.folded else T, B, R, 4 * H, dtype=x.dtype, device=device)
    if split.folded:
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
    scratch = torch.empty(R * B * split.projection_splits * P, dtype=torch.float32, device=device)
    weight = stacked.mT  # [R, K, 4H]
    for t, n in enumerate(rules.alive):
        if n == 0:
            break
        slot = t if keep else 0
        step = gates[slot if split.folded else t, :n]  # [n, R, 4H]
        before = inputs[t, :n].transpose(0, 1)  # [R, n, K]
        if split.folded:
            torch.bmm(before, weight, out=step.transpose(0, 1))
        else:
            step.transpose(0, 1).baddbmm_(before, weight)
        m_t = m[t if projection is None else slot, :n]  # [n, R, H]
        c_t, new_c = cells[slot, :, :n], cells[slot + keep, :, :n]  # [R, n, H]
        kernels.cell(step, bias, c_t, new_c, m_t, clip=rules.cell_clip)
        if projection is not None:
            kernels.output(
                _cut_sum(m_t, projection, split.projection_splits, scratch),
                y[:, t, :n],
                inputs[t + 1, :n, :, K - P :],
                None if unclipped is None else unclipped[slot, :n],
                clip=rules.projection_clip,
            )
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
    split, device = rules.split, x.device
    R, T, B, D = x.shape
    H, K = cells.shape[-1], inputs.shape[-1]
    P = K - D if split.folded else K
    new = torch.empty if rules.lengths is None else torch.zeros
    dy, dh, dc = dy.contiguous(), dh.contiguous(), dc.clone(memory_format=torch.contiguous_format)
    dh0 = torch.empty_like(dh)
    dx = new(R, T, B, D, dtype=x.dtype, device=device) if split.folded else None
    dp = new(T, B, R, P, dtype=x.dtype, device=device)  # gradient of the output before its clip
    dm = None if projection is None else torch.empty(B, R, H, dtype=x.dtype, device=device)
    dbias = kernels.bias_partials(B, R, H, device=device)
    bias_values = bias.contiguous()
    back = None if cast_projection is None else cast_projection.mT  # [R, P, H]
    scratch = torch.empty(R * B * split.recurrent_splits * K, dtype=torch.float32, device=device)
    partials = scratch[:0].view(R * split.recurrent_splits, 0, K)
    for t in reversed(range(T)):
        n = rules.alive[t]
        if n < B:
            gates[t, n:] = 0
        if n == 0:
            continue
        dp_t = dp[t, :n]  # [n, R, P]
        kernels.output_backward(
            partials,
            dh[:, :n],
            None if dx is None or t + 1 == T else dx[:, t + 1],
            dy[:, t, :n],
            None if unclipped is None else unclipped[t, :n],
            dp_t.transpose(0, 1),
        )
        dm_t = dp_t
        if dm is not None and back is not None:
            dm_t = dm[:n]  # [n, R, H]
            torch.bmm(dp_t.transpose(0, 1), back, out=dm_t.transpose(0, 1))
        step = gates[t, :n]  # [n, R, 4H]
        kernels.cell_backward(step, bias_values, cells[t, :, :n], dc[:, :n], dm_t, dbias, clip=rules.cell_clip)
        partials = _cut_sum(step, stacked, split.recurrent_splits, scratch)
    kernels.output_backward(partials, dh, None if dx is None else dx[:, 0], None, None, dh0)
    dgates = gates.view(T * B, R, 4 * H).transpose(0, 1)  # [R, T * B, 4H]
    steps = inputs[:T].view(T * B, R, K).permute(1, 2, 0)  # [R, K, T * B]
    need_x, need_h, need_c, need_wx, need_wh, need_bias, need_p, _ = ctx.needs_input_grad
    if dx is None and need_x:
        dx = torch.bmm(dgates, weight_x.to(x.dtype).mT).view(R, T, B, D)
    dweight_x, dweight_h, dprojection = None, None, None
    if need_wx:
        by_column = steps[:, :D] if split.folded else x.reshape(R, T * B, D).mT
        dweight_x = product_as(by_column, dgates, weight_x.dtype)
    if need_wh:
        dweight_h = product_as(steps[:, K - P :], dgates, weight_h.dtype)
    if need_p:
        assert projection is not None
        dprojection = product_as(
            m.view(T * B, R, H).permute(1, 2, 0), dp.view(T * B, R, P).transpose(0, 1), projection.dtype
        )
    return (
        dx if need_x else None,
        dh0 if need_h else None,
        dc if need_c else None,
        dweight_x,
        dweight_h,
        dbias.sum(dim=1).to(bias.dtype) if need_bias else None,
        dprojection,
    )
