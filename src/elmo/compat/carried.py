"""The state between calls, as bilm-tf and AllenNLP keep it: the one thing here that remembers."""

from typing import Protocol

import numpy as np

from elmo.errors import InputError
from elmo.model.state import State
from elmo.ops.arrays import Array, concatenate, host, placed


class _HasZeroState(Protocol):
    def zero_state(self, rows: int) -> State: ...


class CarriedState:
    """The state of each batch row from call to call. A row is known by its place in the batch, nothing else.

    A row used for the first time starts from zero; a smaller batch leaves the rows beyond it as they were. The names
    `stateful`, `reset_states` and `_states` are AllenNLP's, because scripts reach for them.
    """

    def __init__(self) -> None:
        self.stateful = True
        self._states: State | None = None

    def start(self, bilm: _HasZeroState, rows: int) -> State:
        """The state that a batch of `rows` starts from."""
        state = bilm.zero_state(rows)
        if self.stateful and self._states is not None:
            have = min(rows, self._states.h.shape[2])
            for new, kept in zip(state, self._states, strict=True):
                new[:, :, :have] = _like(kept[:, :, :have], new)
        return state

    def keep(self, after: State) -> None:
        """Remember where a batch ended; no gradient goes back through it."""
        parts = [part if isinstance(part, np.ndarray) else part.detach() for part in after]
        if self._states is not None:
            beyond = self._states.rows(slice(parts[0].shape[2], None))
            parts = [concatenate([part, _like(rest, part)], 2) for part, rest in zip(parts, beyond, strict=True)]
        self._states = State(*parts)

    def reset_states(self, mask: Array | None = None) -> None:
        """Forget all rows, or those where `mask` [B] is true."""
        if mask is None or self._states is None:
            self._states = None
            return
        rows = self._states.h.shape[2]
        if tuple(mask.shape) != (rows,):
            raise InputError(f"the mask of rows to reset has shape {list(mask.shape)}; {[rows]} is wanted")
        kept = placed(~host(mask).astype(bool)[:, None], like=self._states.h)
        self._states = State(self._states.h * kept, self._states.c * kept)


def _like(values: Array, other: Array) -> Array:
    """On the device and in the type of `other`: NumPy's and torch's code may share a state."""
    if isinstance(other, np.ndarray):
        return host(values)
    return (placed(values, like=other) if isinstance(values, np.ndarray) else values).to(other)
