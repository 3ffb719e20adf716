"""The projected LSTM where nothing is kept for gradients, in plain torch. See `lstmp_reference` for the meaning."""

import torch
from torch import Tensor

from elmo.ops.lstmp.reference import LSTMPWeights
from elmo.ops.steps import FORGET_BIAS, LSTMPState

# The input products of this many positions (rows x steps) are held at once.
HOISTED_POSITIONS = 512


def lstmp_inference(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    alive: list[int],
    cell_clip: float | None,
    projection_clip: float | None,
) -> tuple[Tensor, LSTMPState]:
    """Input products hoisted in blocks of time; of each step t only the first `alive[t]` rows computed."""
    R, T, B, D = x.shape
    P = state.h.shape[-1]
    y = x.new_zeros(R, T, B, P)
    h, c = state.h.clone(), state.c.clone()
    block = max(1, HOISTED_POSITIONS // max(1, B))
    for start in range(0, T, block):
        stop = min(start + block, T)
        n = alive[start]  # rows alive in the block's first step; later steps have no more
        if n == 0:
            break
        hoisted = torch.baddbmm(weights.bias[:, None], x[:, start:stop, :n].reshape(R, -1, D), weights.x)
        hoisted = hoisted.view(R, stop - start, n, -1)  # [R, block, n, 4H]
        for t in range(start, stop):
            n = alive[t]
            if n == 0:
                break
            gates = torch.baddbmm(hoisted[:, t - start, :n], h[:, :n], weights.h).to(c.dtype)  # [R, n, 4H]
            i, j, f, o = gates.chunk(4, dim=-1)
            cell = f.add_(FORGET_BIAS).sigmoid_().mul_(c[:, :n]).addcmul_(i.sigmoid_(), j.tanh_())
            if cell_clip is not None:
                cell.clamp_(-cell_clip, cell_clip)
            c[:, :n] = cell
            output = torch.tanh(cell).mul_(o.sigmoid_()).to(x.dtype)
            if weights.projection is not None:
                output = torch.bmm(output, weights.projection)
                if projection_clip is not None:
                    output.clamp_(-projection_clip, projection_clip)
            h[:, :n] = output
            y[:, t, :n] = output
    return y, LSTMPState(h, c)
