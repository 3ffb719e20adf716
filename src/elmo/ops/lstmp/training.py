"""The projected LSTM with a hand-written backward pass in plain torch: any device, any floating type.

What autograd through the reference would do, with three savings: the input product and all weight gradients are single
products over all steps, the gates are activated where they stand and become their own gradients, and nothing but data
gradients is left inside the loop over time. Sizes as in `lstmp_reference`.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops.lstmp.reference import LSTMPWeights
from elmo.ops.steps import FORGET_BIAS, LSTMPState

_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


def lstmp_training(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    lengths: Tensor | None,
    alive: list[int],
    cell_clip: float | None,
    projection_clip: float | None,
) -> tuple[Tensor, LSTMPState]:
    """See `lstmp_reference` for the meaning; `alive[t]` rows stand first among those that step t has."""
    outputs: tuple[Tensor, Tensor, Tensor] = _Training.apply(  # type: ignore[no-untyped-call]
        x, *state, *weights, lengths, alive, cell_clip, projection_clip
    )
    y, h, c = outputs
    return y, LSTMPState(h, c)


class _Training(torch.autograd.Function):
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
        lengths: Tensor | None,
        alive: list[int],
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        R, T, B, D = x.shape
        H, P, wide = c0.shape[-1], h0.shape[-1], c0.dtype
        # What no step writes must still be zero in the products over all steps.
        new = x.new_empty if lengths is None else x.new_zeros
        hoisted = torch.baddbmm(bias[:, None], x.reshape(R, T * B, D), weight_x).view(R, T, B, 4 * H)
        gates = hoisted.to(wide)
        cells = new(R, T, B, H, dtype=wide)
        tanhs = new(R, T, B, H, dtype=wide)
        y = new(R, T, B, P)
        m = y if projection is None else new(R, T, B, H)
        inside_c = None if cell_clip is None else new(R, T, B, H, dtype=torch.bool)
        inside_h = None if projection is None or projection_clip is None else new(R, T, B, P, dtype=torch.bool)
        h, c = h0, c0
        for t, n in enumerate(alive):
            # A fresh result, activated into its place: products into strided memory run one direction at a time.
            raw = torch.baddbmm(hoisted[:, t, :n], h[:, :n], weight_h).to(wide)  # [R, n, 4H]
            i, j, f, o = gates[:, t, :n].chunk(4, dim=-1)
            raw_i, raw_j, raw_f, raw_o = raw.chunk(4, dim=-1)
            torch.sigmoid(raw_i, out=i)
            torch.tanh(raw_j, out=j)
            torch.sigmoid(raw_f.add_(FORGET_BIAS), out=f)
            torch.sigmoid(raw_o, out=o)
            cell = torch.mul(f, c[:, :n], out=cells[:, t, :n]).addcmul_(i, j)
            if cell_clip is not None and inside_c is not None:
                torch.le(cell.abs(), cell_clip, out=inside_c[:, t, :n])
                cell.clamp_(-cell_clip, cell_clip)
            torch.mul(torch.tanh(cell, out=tanhs[:, t, :n]), o, out=m[:, t, :n])
            if projection is not None:
                output = torch.bmm(m[:, t, :n], projection, out=y[:, t, :n])
                if projection_clip is not None and inside_h is not None:
                    torch.le(output.abs(), projection_clip, out=inside_h[:, t, :n])
                    output.clamp_(-projection_clip, projection_clip)
            h, c = y[:, t], cells[:, t]
        ctx.save_for_backward(x, h0, c0, weight_x, weight_h, bias, projection, y)
        ctx.kept = gates, cells, tanhs, m, inside_c, inside_h
        ctx.alive = alive
        if lengths is None:
            return y, h.clone(), c.clone()
        rows, last = torch.arange(B, device=x.device), lengths - 1
        started = (lengths > 0)[:, None]  # [B, 1]
        return y, torch.where(started, y[:, last, rows], h0), torch.where(started, cells[:, last, rows], c0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor, dh: Tensor, dc: Tensor) -> tuple[Tensor | None, ...]:
        x, h0, c0, weight_x, weight_h, bias, projection, y = ctx.saved_tensors
        gates, cells, tanhs, m, inside_c, inside_h = ctx.kept
        # The gates become their gradients in place, unless the caller keeps the graph for another pass.
        if torch._C._autograd._get_current_graph_task_keep_graph():
            gates = gates.clone()
        else:
            ctx.kept = None
        R, T, B, D = x.shape
        H, P = c0.shape[-1], h0.shape[-1]
        dh, dc = dh.clone(), dc.clone()
        dp = x.new_zeros(R, T, B, P)  # gradient of the output before its clip
        for t in reversed(range(T)):
            n = ctx.alive[t]
            if n < B:
                gates[:, t, n:] = 0
            if n == 0:
                continue
            step, tanh, dcell = gates[:, t, :n], tanhs[:, t, :n], dc[:, :n]
            i, j, f, o = step.chunk(4, dim=-1)
            before = cells[:, t - 1, :n] if t > 0 else c0[:, :n]
            dm = torch.add(dh[:, :n], dy[:, t, :n], out=dp[:, t, :n])
            if inside_h is not None:
                dm *= inside_h[:, t, :n]
            if projection is not None:
                dm = torch.bmm(dm, projection.mT)  # [R, n, H]
            dm = dm.to(c0.dtype)
            product = dm * o
            dcell += _tanh_backward(product, tanh, grad_input=product)
            if inside_c is not None:
                dcell *= inside_c[:, t, :n]
            _sigmoid_backward(torch.mul(dm, tanh, out=product), o, grad_input=o)
            di, dj = dcell * j, torch.mul(dcell, i, out=product)
            _sigmoid_backward(di, i, grad_input=i)
            _tanh_backward(dj, j, grad_input=j)
            df = torch.mul(dcell, before, out=product)
            dcell *= f
            _sigmoid_backward(df, f, grad_input=f)
            dh[:, :n] = torch.bmm(step.to(x.dtype), weight_h.mT)
        dgates = gates.to(x.dtype).view(R, T * B, 4 * H)
        need_x, need_h, need_c, need_wx, need_wh, need_bias, need_p, *_ = ctx.needs_input_grad
        dweight_h = None
        if need_wh:
            dweight_h = torch.bmm(h0.mT, dgates[:, :B])
            if T > 1:
                # The outputs are the recurrent inputs of the next step; rows that have ended have no gradient there.
                dweight_h.baddbmm_(y[:, :-1].reshape(R, -1, P).mT, dgates[:, B:])
        return (
            torch.bmm(dgates, weight_x.mT).view(R, T, B, D) if need_x else None,
            dh if need_h else None,
            dc if need_c else None,
            torch.bmm(x.reshape(R, -1, D).mT, dgates) if need_wx else None,
            dweight_h,
            gates.sum(dim=(1, 2)).to(bias.dtype) if need_bias else None,
            torch.bmm(m.view(R, -1, H).mT, dp.view(R, -1, P)) if need_p else None,
            *[None] * 4,
        )
