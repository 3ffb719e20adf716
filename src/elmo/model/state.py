"""`State`: what an LSTM stack remembers, a value that is passed in and handed back."""

from typing import NamedTuple

from elmo.ops.arrays import Array


class State(NamedTuple):
    """What the whole stack remembers: arrays on a CPU's path, tensors on a GPU's."""

    h: Array  # [L, R, B, P]
    c: Array  # [L, R, B, H]

    def rows(self, rows: Array | slice) -> "State":
        """The state of some of the rows."""
        return State(self.h[:, :, rows], self.c[:, :, rows])
