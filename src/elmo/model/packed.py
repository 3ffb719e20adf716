"""PackedBiLM: a biLM frozen for a CPU, over arrays, without torch. What `elmo.load` embeds with there.

Its weights are packed in the order in which the compiled kernels read them; without kernels, and in float64, NumPy
computes with them as they are. A copy: what happens to the weights afterwards does not reach it. Sizes as in
`model.bilm`, whose forward it equals.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.model.architecture import BiLMConfig
from elmo.model.frozenstacks import reversed_rows
from elmo.model.kinds import Tensors
from elmo.model.state import State
from elmo.ops.cpu.making import Making

Numbers = npt.NDArray[Any]


class PackedBiLM:
    """`BiLM` without gradients, in float32, with products in bfloat16 or in int8 (weights by column,
    activations by row), or in float64.

    `tensors` are the weights by name with the settled state; each is asked for once, and not kept in float32.
    """

    def __init__(self, config: BiLMConfig, tensors: Tensors, making: Making) -> None:
        self.config = config
        self.making = making
        self.tokens = config.tokens.frozen(_Part("tokens.", tensors), making)
        self.lstm = config.lstm.frozen(_Part("lstm.", tensors), making)
        self.settled_h, self.settled_c = (making.numbers(tensors[name]) for name in ("settled_h", "settled_c"))
        if making.file is not None:
            making.file.keep()

    def __call__(self, x: Numbers, lengths: npt.NDArray[np.int64], state: State) -> tuple[Numbers, State]:
        """Token vectors x: [N, T, D] and lengths [N] -> layers [L + 1, N, T, R * D] and the state after.

        Layer 0 is the token vector, once for each direction. Positions past a length are zero in every layer.
        """
        if (lengths[1:] <= lengths[:-1]).all():
            return self._run_descending(x, lengths, state)
        order = np.argsort(-lengths, kind="stable")
        back = np.argsort(order)
        layers, after = self._run_descending(x[order], lengths[order], state.rows(order))
        return layers[:, back], after.rows(back)

    def _run_descending(self, x: Numbers, lengths: npt.NDArray[np.int64], state: State) -> tuple[Numbers, State]:
        N, T, D = x.shape
        R = self.config.lstm.directions
        inside = np.arange(T) < lengths[:, None]  # [N, T]
        if not inside.all():
            x = x * inside[:, :, None].astype(x.dtype)
        steps = x.swapaxes(0, 1)  # [T, N, D]
        reading = np.stack([steps, reversed_rows(steps, lengths)][:R])
        outputs, after = self.lstm(reading, state, lengths=lengths)
        layers = np.empty((len(outputs) + 1, N, T, R * D), x.dtype)
        for r in range(R):
            mine = layers[..., r * D : (r + 1) * D]
            mine[0] = x
            for n, y in enumerate(outputs):
                mine[n + 1] = (y[0] if r == 0 else reversed_rows(y[1], lengths)).swapaxes(0, 1)
        return layers, after

    def zero_state(self, rows: int) -> State:
        """The state of a model that has read nothing."""
        (L, R, P), (_, _, H) = self.config.state_shapes
        return State(*(np.zeros((L, R, rows, size), self.settled_h.dtype) for size in (P, H)))

    def settled_state(self, rows: int) -> State:
        """The stored state between sentences, for each of `rows` sentences."""
        return State(*(_for_rows(settled, rows) for settled in (self.settled_h, self.settled_c)))


def _for_rows(settled: Numbers, rows: int) -> Numbers:
    L, R, size = settled.shape
    return np.broadcast_to(settled[:, :, None], (L, R, rows, size))


class _Part(Mapping[str, Numbers]):
    """The weights of a part under its own names. What is asked for is not looked at before."""

    def __init__(self, prefix: str, tensors: Tensors) -> None:
        self._prefix, self._tensors = prefix, tensors

    def __getitem__(self, name: str) -> Numbers:
        return self._tensors[self._prefix + name]

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._tensors

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self._prefix) for name in self._tensors if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)
