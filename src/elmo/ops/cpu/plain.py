"""The CPU's operations in plain NumPy, where there are no compiled kernels, and in float64: slower, the same vectors.

Sizes as in `ops.lstmp` and `ops.charconv`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.characters import CharWeights, HighwayWeights, check_rows
from elmo.ops.steps import FORGET_BIAS, LSTMPState

Numbers = npt.NDArray[Any]

# The input products of this many positions (rows x steps) are held at once.
HOISTED_POSITIONS = 512


class PlainLSTMP:
    """One layer of `lstmp`, all directions; the arguments are `PackedLSTMP`'s. The weights are used as they are."""

    def __init__(self, x: Numbers, h: Numbers, bias: Numbers, projection: Numbers | None) -> None:
        self._x, self._h, self._bias, self._projection = x, h, bias, projection

    def __call__(
        self,
        x: Numbers,
        state: LSTMPState,
        *,
        alive: Sequence[int],
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> tuple[Numbers, LSTMPState]:
        """As `lstmp_inference`."""
        R, T, B, _ = x.shape
        h, c = (np.array(part, dtype=x.dtype, order="C") for part in state)
        y = np.zeros((R, T, B, h.shape[-1]), x.dtype)
        block = max(1, HOISTED_POSITIONS // max(1, B))
        for r in range(R):
            projection = None if self._projection is None else self._projection[r]
            for start in range(0, T, block):
                n = alive[start]  # rows alive in the block's first step; later steps have no more
                if n == 0:
                    break
                stop = min(start + block, T)
                hoisted = x[r, start:stop, :n] @ self._x[r] + self._bias[r]  # [block, n, 4H]
                for t in range(start, stop):
                    n = alive[t]
                    if n == 0:
                        break
                    gates = hoisted[t - start, :n] + h[r, :n] @ self._h[r]  # [n, 4H]
                    i, j, f, o = np.split(gates, 4, axis=1)
                    cell = _sigmoid(f + FORGET_BIAS) * c[r, :n] + _sigmoid(i) * np.tanh(j)
                    if cell_clip is not None:
                        np.clip(cell, -cell_clip, cell_clip, out=cell)
                    c[r, :n] = cell
                    output = _sigmoid(o) * np.tanh(cell)
                    if projection is not None:
                        output = output @ projection
                        if projection_clip is not None:
                            np.clip(output, -projection_clip, projection_clip, out=output)
                    h[r, :n] = output
                    y[r, t, :n] = output
        return y, LSTMPState(h, c)


class PlainCharEncoder:
    """Convolutions, maximum, activation, highways and projection. The weights are used as they are."""

    def __init__(self, weights: CharWeights) -> None:
        self._weights = weights
        self._widest = max(weight.shape[0] for weight in weights.filters)
        F = sum(weight.shape[2] for weight in weights.filters)
        self._size = F if weights.projection is None else weights.projection[0].shape[1]

    def __call__(self, rows: npt.NDArray[np.integer[Any]]) -> Numbers:
        """rows: [W, C] -> [W, D]."""
        weights = self._weights
        rows = check_rows(rows, characters=weights.characters, table=len(weights.table))
        result = np.empty((len(rows), self._size), weights.table.dtype)
        ends = np.arange(1, rows.shape[1] + 1)
        lengths = ((rows != weights.padding_id) * ends).max(axis=1, initial=0)  # [W]
        # One more window than characters: behind a word's end all windows see padding.
        columns = np.minimum(rows.shape[1], lengths + self._widest)
        # One word at a time: libraries of matrix products choose their order of summation by the number of rows and a
        # row's place, and the bits of a word's vector must not depend on the words beside it.
        for n, count in enumerate(columns):
            result[n] = self._encode(weights.table[rows[n, :count]])
        return result

    def _encode(self, embedded: Numbers) -> Numbers:
        """The characters of one word [columns, E] -> its vector [D]."""
        weights = self._weights
        pooled = []
        for weight, bias in zip(weights.filters, weights.biases, strict=True):
            width, E, count = weight.shape
            windows = np.lib.stride_tricks.sliding_window_view(embedded, width, axis=0)  # [V, E, width]
            flat = windows.transpose(0, 2, 1).reshape(-1, width * E)
            pooled.append((flat @ weight.reshape(width * E, count)).max(axis=0) + bias)
        x = np.concatenate(pooled)  # [F]
        x = np.tanh(x) if weights.activation == "tanh" else np.maximum(x, 0)
        for layer in weights.highways:
            x = _highway(x, layer)
        if weights.projection is not None:
            weight, bias = weights.projection
            x = x @ weight + bias
        return x


def _highway(x: Numbers, layer: HighwayWeights) -> Numbers:
    """As `highway_reference`."""
    gate = _sigmoid(x @ layer.carry + layer.carry_bias)
    fresh = np.maximum(x @ layer.transform + layer.transform_bias, 0)
    y: Numbers = gate * fresh + (1 - gate) * x
    return y


def _sigmoid(x: Numbers) -> Numbers:
    y: Numbers = 0.5 * (1 + np.tanh(0.5 * x))
    return y
