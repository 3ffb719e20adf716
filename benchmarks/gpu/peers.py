"""Other ways to run the LSTM inside our model, for the benchmarks beside it: cuDNN's, and a plain loop."""

import contextlib
import warnings
from collections.abc import Iterator
from unittest.mock import patch

import torch
from torch import Tensor

from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp_reference

LSTM = {"cudnn": "cuDNN nn.LSTM, no clips", "loop": "plain loop, clips"}


def lstmp_cudnn(
    x: Tensor,
    state: LSTMPState,
    weights: LSTMPWeights,
    **_: object,
) -> tuple[Tensor, LSTMPState]:
    """What `nn.LSTM(proj_size)` computes, one call for each direction: no clips, and cell states in the type of x."""
    assert weights.projection is not None
    outputs, hs, cs = [], [], []
    for r in range(len(x)):
        i, j, f, o = weights.bias[r].to(x.dtype).chunk(4)
        flat = [
            _torch_gates(weights.x[r]).to(x.dtype),
            _torch_gates(weights.h[r]).to(x.dtype),
            torch.cat([i, f + 1, j, o]),
            torch.zeros_like(weights.bias[r], dtype=x.dtype),
            weights.projection[r].T.to(x.dtype).contiguous(),
        ]
        start = tuple(part[r : r + 1].to(x.dtype).contiguous() for part in state)
        # Padding is computed too: packed sequences would need one more copy in and out.
        y, h, c = torch._VF.lstm(x[r].contiguous(), start, flat, True, 1, 0.0, torch.is_grad_enabled(), False, False)
        outputs.append(y)
        hs.append(h[0])
        cs.append(c[0].float())
    return torch.stack(outputs), LSTMPState(torch.stack(hs), torch.stack(cs))


def lstmp_loop(
    x: Tensor, state: LSTMPState, weights: LSTMPWeights, *, lengths: Tensor | None = None, **clips: float | None
) -> tuple[Tensor, LSTMPState]:
    """The readable reference."""
    lengths = None if lengths is None else lengths.to(x.device)
    cast = LSTMPWeights(*(None if weight is None else weight.to(x.dtype) for weight in weights))  # type: ignore[arg-type]
    return lstmp_reference(x, state, cast, lengths=lengths, **clips)


def _torch_gates(weight: Tensor) -> Tensor:
    """(in, out) with TensorFlow's gates (i, j, f, o) to torch's (out, in) with (i, f, g, o)."""
    i, j, f, o = weight.T.chunk(4)
    return torch.cat([i, f, j, o])


@contextlib.contextmanager
def using(name: str) -> Iterator[None]:
    """Our model with another LSTM in it."""
    function = lstmp_cudnn if name == "cudnn" else lstmp_loop
    with patch("elmo.model.bilstm.lstmp", function), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
        yield
