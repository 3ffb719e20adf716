"""What every version of the projected LSTM knows, whatever it computes with: its state, its forget bias, its rows."""

from itertools import pairwise
from typing import Any, NamedTuple

FORGET_BIAS = 1.0  # added when the model runs, not stored [tf.nn.rnn_cell.LSTMCell]


class LSTMPState(NamedTuple):
    """What a stack of R directions remembers between steps: arrays, or tensors."""

    h: Any  # [R, B, P]
    c: Any  # [R, B, H], at least float32


def alive_rows(lengths: Any, T: int, B: int) -> list[int]:
    """How many rows each step has; they stand first. Lengths (an array, a tensor or None) on a GPU are waited for."""
    if lengths is None:
        return [B] * T
    values: list[int] = lengths.tolist()
    if any(before < after for before, after in pairwise(values)):
        raise ValueError("lstmp wants its rows in order of descending length")
    alive, n = [], len(values)
    for t in range(T):
        while n > 0 and values[n - 1] <= t:
            n -= 1
        alive.append(n)
    return alive
