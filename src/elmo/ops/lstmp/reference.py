"""The projected LSTM with clips, step by step and readable: what every faster version must equal.

Sizes: R independent directions, T steps, B rows, D input, H cell, P projection (P = H without one).
Every direction reads its own input from step 0 on; whoever runs a sentence backwards turns it round first.
Gates stand in TensorFlow's order (input, candidate, forget, output), and the forget gate's bias of 1 is added here, not
stored, so that published weights stay as they are. [tf.nn.rnn_cell.LSTMCell]
"""

from typing import NamedTuple

import torch
from torch import Tensor

from elmo.ops.steps import FORGET_BIAS, LSTMPState


class LSTMPWeights(NamedTuple):
    """One layer, R directions. Stored (in, out): faster than (out, in) at few rows."""

    x: Tensor  # [R, D, 4H]
    h: Tensor  # [R, P, 4H]
    bias: Tensor  # [R, 4H]
    projection: Tensor | None  # [R, H, P]


def lstmp_reference(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    lengths: Tensor | None = None,
    cell_clip: float | None = None,
    projection_clip: float | None = None,
) -> tuple[Tensor, LSTMPState]:
    """Step by step, as the paper's code does it.

    x: [R, T, B, D] -> y: [R, T, B, P] and the state after the last step. A row past its length keeps its state and
    gives zeros. The cell is clipped before it is read; the output is clipped after the projection, and not at all where
    there is none. [tf.nn.rnn_cell.LSTMCell.call]
    """
    h, c = state
    outputs = []
    for t in range(x.shape[1]):
        gates = torch.bmm(x[:, t], weights.x) + torch.bmm(h, weights.h) + weights.bias[:, None]  # [R, B, 4H]
        i, j, f, o = gates.chunk(4, dim=-1)  # [R, B, H] each
        new_c = torch.sigmoid(f + FORGET_BIAS) * c + torch.sigmoid(i) * torch.tanh(j)
        if cell_clip is not None:
            new_c = new_c.clamp(-cell_clip, cell_clip)
        new_h = (torch.sigmoid(o) * torch.tanh(new_c)).to(x.dtype)
        if weights.projection is not None:
            new_h = torch.bmm(new_h, weights.projection)  # [R, B, P]
            if projection_clip is not None:
                new_h = new_h.clamp(-projection_clip, projection_clip)
        if lengths is None:
            h, c = new_h, new_c
            outputs.append(new_h)
        else:
            alive = (t < lengths)[None, :, None]  # [1, B, 1]
            h, c = torch.where(alive, new_h, h), torch.where(alive, new_c, c)
            outputs.append(new_h * alive)
    y = torch.stack(outputs, dim=1) if outputs else x.new_zeros(*x.shape[:3], state.h.shape[-1])
    return y, LSTMPState(h, c)
