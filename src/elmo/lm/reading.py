"""How a text is read for evaluation: as one continuous stream, or sentence by sentence. Every symbol is read once.

Symbols are type ids, 0 between sentences; `pretrain.data.streams` says what is input and what is target at a position.
R directions, T steps, B rows, N symbols.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.corpus.layout import SEPARATOR, Ints

ROW_SYMBOLS = 512  # a carried row is at least this long where the text is: each row begins without its past
MOST_ROWS = 64
POSITIONS = 4096  # rows x steps of a batch of sentences
BLOCK = 8  # neighbouring sentences in a part of a text


class Reading(NamedTuple):
    """Rows to read, each direction in its own order; where `alive` is false there is nothing."""

    inputs: npt.NDArray[np.int32]  # [R, T, B]
    targets: npt.NDArray[np.int32]  # [R, T, B]
    alive: npt.NDArray[np.bool_]  # [T, B]
    sentences: npt.NDArray[np.int64]  # [B], the sentence in each row; empty where rows hold many


def carried_reading(symbols: Ints, *, directions: int) -> Reading:
    """The whole text in some rows; the backward direction reads all of it from the end."""
    N = len(symbols)
    rows = max(1, min(MOST_ROWS, N // ROW_SYMBOLS))
    length = -(-N // rows)
    forward = np.asarray(symbols, dtype=np.int32)
    orders = [forward, np.append(forward[::-1][1:], np.int32(SEPARATOR))][:directions]
    inputs = np.zeros((directions, rows * length), dtype=np.int32)
    targets = np.zeros_like(inputs)
    for direction, order in enumerate(orders):
        inputs[direction, 1:N] = order[:-1]
        targets[direction, :N] = order
    alive = np.arange(rows * length) < N

    def cut(flat: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        return flat.reshape(directions, rows, length).transpose(0, 2, 1)

    return Reading(cut(inputs), cut(targets), alive.reshape(rows, length).T, np.empty(0, dtype=np.int64))


def sentence_readings(symbols: Ints, sentences: Ints, *, directions: int) -> Iterator[Reading]:
    """One sentence a row, those of like length together, the longest first."""
    lengths = np.diff(sentences)
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        T = int(lengths[order[start]])
        rows = order[start : start + max(1, POSITIONS // T)]
        steps = np.arange(T)[:, None]  # [T, 1]
        own = lengths[rows]  # [B]
        alive = steps < own
        forward = np.where(alive, symbols[np.where(alive, sentences[rows] + steps, 0)], SEPARATOR)
        # Past the first word this reaches the separator of the sentence before (for sentence 0 the last one).
        back = np.where(alive, sentences[rows + 1] - 2 - steps, 0)
        backward = np.where(alive, symbols[back], SEPARATOR)
        targets = np.stack([forward, backward][:directions]).astype(np.int32)
        inputs = np.concatenate([np.zeros_like(targets[:, :1]), targets[:, :-1]], axis=1)
        yield Reading(inputs, targets, alive, rows)
        start += len(rows)


def part_of(symbols: Ints, sentences: Ints, *, symbol_count: int | None) -> tuple[Ints, Ints]:
    """About `symbol_count` symbols of a split: blocks of sentences spread evenly over it."""
    if symbol_count is None or symbol_count >= len(symbols):
        return symbols, sentences
    S = len(sentences) - 1
    blocks = np.arange(-(-S // BLOCK))
    fraction = symbol_count / len(symbols)
    taken = blocks[np.floor((blocks + 1) * fraction) > np.floor(blocks * fraction)]
    if len(taken) == 0:
        taken = blocks[:1]
    pieces, ends = [], [0]
    for block in taken.tolist():
        first, last = block * BLOCK, min((block + 1) * BLOCK, S)
        pieces.append(symbols[int(sentences[first]) : int(sentences[last])])
        ends += (np.asarray(sentences[first + 1 : last + 1]) - sentences[first] + ends[-1]).tolist()
    return np.concatenate(pieces), np.array(ends, dtype=np.int64)
