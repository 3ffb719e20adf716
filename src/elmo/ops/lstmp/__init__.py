"""The projected LSTM with clips: the one function that everything else calls, whatever computes it.

`lstmp_reference` says what it means; `lstmp_inference` and `lstmp_training` are fast in plain torch, `lstmp_cuda` on a
GPU.
"""

import torch
from torch import Tensor

from elmo.ops.device import to_device
from elmo.ops.gpu.triton_support import triton_runs_on
from elmo.ops.lstmp.inference import lstmp_inference
from elmo.ops.lstmp.reference import LSTMPWeights, lstmp_reference
from elmo.ops.lstmp.training import lstmp_training
from elmo.ops.steps import LSTMPState, alive_rows

__all__ = ["LSTMPState", "LSTMPWeights", "alive_rows", "lstmp", "lstmp_reference"]


def lstmp(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    *,
    lengths: Tensor | None = None,
    cell_clip: float | None = None,
    projection_clip: float | None = None,
) -> tuple[Tensor, LSTMPState]:
    """Run over time; see `lstmp_reference` for the meaning. With `lengths`, rows stand in order of descending length.

    Cell states are at least float32. Weights wider than x are cast to its type, and get gradients of their own type.
    """
    T, B = x.shape[1:3]
    state = LSTMPState(state.h.to(x.dtype), state.c.to(torch.promote_types(x.dtype, torch.float32)))
    if T == 0:
        return x.new_zeros(*x.shape[:3], state.h.shape[-1]), state
    alive = alive_rows(lengths, T, B)
    if lengths is not None:
        lengths = to_device(lengths, x.device)
    # Inside, each product has the type it was given; a surrounding autocast would change some of them.
    with torch.autocast(x.device.type, enabled=False):
        if x.dtype != torch.float64 and triton_runs_on(x.device):
            from elmo.ops.lstmp.cuda import lstmp_cuda

            return lstmp_cuda(
                x,
                state,
                weights,
                lengths=lengths,
                alive=alive,
                cell_clip=cell_clip,
                projection_clip=projection_clip,
            )
        weights = LSTMPWeights(
            weights.x.to(x.dtype),
            weights.h.to(x.dtype),
            weights.bias.to(x.dtype),
            None if weights.projection is None else weights.projection.to(x.dtype),
        )
        if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, *state, *weights)):
            return lstmp_training(
                x,
                state,
                weights,
                lengths=lengths,
                alive=alive,
                cell_clip=cell_clip,
                projection_clip=projection_clip,
            )
        return lstmp_inference(x, state, weights, alive=alive, cell_clip=cell_clip, projection_clip=projection_clip)
