"""The projected LSTM with clips: the readable reference, and the function that everything else calls.

Sizes: R independent directions, T steps, B rows, D input, H cell, P projection (P = H without one).
Every direction reads its own input from step 0 on; whoever runs a sentence backwards turns it round first.
Gates stand in TensorFlow's order (input, candidate, forget, output), and the forget gate's bias of 1 is added here, not
stored, so that published weights stay as they are. [tf.nn.rnn_cell.LSTMCell]
"""

from typing import NamedTuple

import torch
from torch import Tensor

FORGET_BIAS = 1.0
# The input products of this many positions (rows x steps) are held at once where nothing is kept for gradients.
HOISTED_POSITIONS = 512


class LSTMPState(NamedTuple):
    """What a stack of R directions remembers between steps."""

    h: Tensor  # [R, B, P]
    c: Tensor  # [R, B, H]


class LSTMPWeights(NamedTuple):
    """One layer, R directions. Stored (in, out): faster than (out, in) at few rows."""

    x: Tensor  # [R, D, 4H]
    h: Tensor  # [R, P, 4H]
    bias: Tensor  # [R, 4H]
    projection: Tensor | None  # [R, H, P]


def lstmp(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    lengths: Tensor | None = None,
    cell_clip: float | None = None,
    projection_clip: float | None = None,
) -> tuple[Tensor, LSTMPState]:
    """Run over time; see `lstmp_reference` for the meaning. With `lengths`, rows stand in order of falling length."""
    if lengths is not None and bool((lengths[1:] > lengths[:-1]).any()):
        raise ValueError("lstmp wants its rows in order of falling length")
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, *state, *weights)):
        return lstmp_reference(x, state, weights, lengths=lengths, cell_clip=cell_clip, projection_clip=projection_clip)
    return _lstmp_inference(x, state, weights, lengths, cell_clip, projection_clip)


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
        new_h = torch.sigmoid(o) * torch.tanh(new_c)
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


def _lstmp_inference(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    lengths: Tensor | None,
    cell_clip: float | None,
    projection_clip: float | None,
) -> tuple[Tensor, LSTMPState]:
    """The same without gradients: input products hoisted in blocks of time, only the rows still alive computed."""
    R, T, B, D = x.shape
    P = state.h.shape[-1]
    y = x.new_zeros(R, T, B, P)
    h, c = state.h.clone(), state.c.clone()
    if lengths is None:
        alive = [B] * T
    else:
        alive = (lengths[None, :] > torch.arange(T, device=lengths.device)[:, None]).sum(1).tolist()
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
            gates = torch.baddbmm(hoisted[:, t - start, :n], h[:, :n], weights.h)  # [R, n, 4H]
            i, j, f, o = gates.chunk(4, dim=-1)
            cell = f.add_(FORGET_BIAS).sigmoid_().mul_(c[:, :n]).addcmul_(i.sigmoid_(), j.tanh_())
            if cell_clip is not None:
                cell.clamp_(-cell_clip, cell_clip)
            c[:, :n] = cell
            output = torch.tanh(cell).mul_(o.sigmoid_())
            if weights.projection is not None:
                output = torch.bmm(output, weights.projection)
                if projection_clip is not None:
                    output.clamp_(-projection_clip, projection_clip)
            h[:, :n] = output
            y[:, t, :n] = output
    return y, LSTMPState(h, c)
