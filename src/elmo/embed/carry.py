"""State "carry": the state of each batch row goes on to the next batch, also to batches of fewer or more rows."""

from elmo.model.state import State
from elmo.ops.arrays import concatenate


def widened(state: State, zeros: State) -> State:
    """`state` with rows of `zeros` added until it has as many."""
    return with_first_rows(zeros, state) if state.h.shape[2] < zeros.h.shape[2] else state


def with_first_rows(state: State, first: State) -> State:
    """`state`, its first rows replaced by those of `first`."""
    rest = state.rows(slice(first.h.shape[2], None))
    return State(concatenate([first.h, rest.h], 2), concatenate([first.c, rest.c], 2))
