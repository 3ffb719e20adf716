"""The LSTM stacks frozen for a CPU, over arrays: the compiled kernels or plain NumPy, whichever the layers are made of.

Sizes as in `stacks`: [R, T, B, .] in reading order, forward from the left, backward from the right.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elmo.errors import InputError
from elmo.model.kinds import Tensors
from elmo.model.state import State
from elmo.ops.cpu.making import Making, RunsLSTMP
from elmo.ops.steps import LSTMPState, alive_rows

Numbers = npt.NDArray[Any]
Lengths = npt.NDArray[np.int64]


class FrozenStack(Protocol):
    """What runs a batch in reading order through all layers."""

    def __call__(self, x: Numbers, state: State, *, lengths: Lengths | None = None) -> tuple[list[Numbers], State]:
        """x: [R, T, B, D] in reading order -> the output of each layer [R, T, B, P], and the state after."""


def layer_of(weights: Tensors, n: int, making: Making) -> RunsLSTMP:
    """Layer `n` of a stack."""
    names = [f"layers.{n}.{name}" for name in ("weight_x", "weight_h", "bias")]
    projection = f"layers.{n}.weight_projection"
    x, h, bias = (weights[name] for name in names)
    return making.lstmp(x, h, bias, weights.get(projection))


class FrozenBiLSTM:
    """`BiLSTM` without gradients and dropout."""

    def __init__(
        self,
        layers: Sequence[RunsLSTMP],
        *,
        cell_clip: float | None,
        projection_clip: float | None,
        skip_connections: bool,
    ) -> None:
        self._layers = layers
        self._clips = {"cell_clip": cell_clip, "projection_clip": projection_clip}
        self._skip_connections = skip_connections

    def __call__(self, x: Numbers, state: State, *, lengths: Lengths | None = None) -> tuple[list[Numbers], State]:
        """As `BiLSTM.forward`."""
        T, B = x.shape[1:3]
        alive = alive_rows(lengths, T, B)
        outputs: list[Numbers] = []
        h, c = [], []
        for n, layer in enumerate(self._layers):
            y, after = layer(x, LSTMPState(state.h[n], state.c[n]), alive=alive, **self._clips)
            h.append(after.h)
            c.append(after.c)
            if self._skip_connections and n > 0:
                y += x
            outputs.append(y)
            x = y
        return outputs, State(np.stack(h), np.stack(c))


class FrozenJointLSTM:
    """`JointLSTM` without gradients and dropout."""

    def __init__(self, layers: Sequence[RunsLSTMP], *, projection: Numbers, bias: Numbers, cell_dim: int) -> None:
        self._layers = layers
        self._projection, self._bias, self._cell_dim = projection, bias, cell_dim

    def __call__(self, x: Numbers, state: State, *, lengths: Lengths | None = None) -> tuple[list[Numbers], State]:
        """As `JointLSTM.forward`."""
        T, B = x.shape[1:3]
        if lengths is None:
            if not np.array_equal(x[0], x[1, ::-1]):
                raise InputError(
                    "a sentence is too long for this model, whose layers read both directions at once and so cannot "
                    "read it in pieces; split the sentence"
                )
            lengths = np.full(B, T)
        alive = alive_rows(lengths, T, B)
        none = np.zeros((2, B, self._cell_dim), x.dtype)
        for layer in self._layers:
            y, _ = layer(x, LSTMPState(none, none), alive=alive, cell_clip=None, projection_clip=None)  # [2, T, B, H]
            joined = np.concatenate([y[0], reversed_rows(y[1], lengths)], axis=-1)  # [T, B, 2H] in text order
            x = np.stack([joined, reversed_rows(joined, lengths)])
        inside = (np.arange(T)[:, None] < lengths)[None, :, :, None]  # [1, T, B, 1]
        return [(y @ self._projection + self._bias) * inside], state


def reversed_rows(steps: Numbers, lengths: Lengths) -> Numbers:
    """[T, B, D] with the first `length` steps of each row reversed."""
    T, B = steps.shape[:2]
    places = np.arange(T)[:, None]  # [T, 1]
    index = np.where(places < lengths, lengths - 1 - places, places)  # [T, B]
    values: Numbers = steps[index, np.arange(B)]
    return values
