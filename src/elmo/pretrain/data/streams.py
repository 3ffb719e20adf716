"""Streams: what each row of a training batch reads at each step. Every batch is a function of the step's number.

A split is a stream of symbols (type ids) in which each sentence is followed by one separator (type 0). For each
direction and epoch its sentences are put into a new order, the whole is cut into B rows of equal length, and a step
reads the next T positions of each row. At a position the target is the symbol there and the input is the symbol before
it, so that a sentence's separator is a target after its last word and the input before the next sentence's first, as in
the original. [bilm-tf data.py, _get_batch] The backward direction reads each sentence from its end. What does not fill
a whole step (less than B * T symbols) is left out, in each epoch something else.

B rows, T steps of a window, R directions, N symbols of the split, S sentences.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.corpus.layout import SEPARATOR, Ints
from elmo.errors import ConfigError

Order = Literal["sentence", "document"]

MEMORY_BUDGET = 2 << 30  # bytes for the epoch in its reading order, all directions; without them windows are gathered
PIECE = 1 << 20  # positions looked up at once while an epoch is laid out


class Cursor(NamedTuple):
    """Where in the data a step stands."""

    epoch: int
    window: int


class Streams:
    """B rows a direction over one split; `symbols(step)` gives the same answer whatever was asked before."""

    def __init__(
        self,
        symbols: Ints,
        sentences: Ints,
        documents: Ints,
        *,
        seed: int,
        batch: int,
        window: int,
        order: Order = "sentence",
        directions: int = 2,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        self.all_symbols, self.sentences, self.documents = symbols, sentences, documents
        self.seed, self.rows, self.window, self.order, self.directions = seed, batch, window, order, directions
        self.windows = windows_per_epoch(len(symbols), batch=batch, window=window)
        self._laid_out = directions * len(symbols) * np.dtype(np.int32).itemsize <= memory_budget
        self._epochs: dict[int, tuple[int, Epoch | npt.NDArray[np.int32]]] = {}  # direction -> the epoch at hand

    def cursor(self, step: int) -> Cursor:
        """The place of a step, counted from 0."""
        return Cursor(*divmod(step, self.windows))

    def symbols(self, step: int, rows: slice = slice(None)) -> npt.NDArray[np.int32]:
        """What a step reads, [R, T + 1, B]: inputs are all but the last, targets all but the first.

        `rows` is the share of one process.
        """
        epoch, window = self.cursor(step)
        first = np.arange(self.rows, dtype=np.int64)[rows] * (self.windows * self.window) + window * self.window
        positions = first + np.arange(-1, self.window, dtype=np.int64)[:, None]  # [T + 1, B]
        return np.stack([self._symbols_at(direction, epoch, positions) for direction in range(self.directions)])

    def _symbols_at(self, direction: int, epoch: int, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        at_hand = self._epochs.get(direction)
        if at_hand is None or at_hand[0] != epoch:
            self._epochs.pop(direction, None)  # two epochs are never held together
            reading = Epoch(self, direction=direction, epoch=epoch)
            at_hand = self._epochs[direction] = (epoch, reading.lay_out() if self._laid_out else reading)
        source = at_hand[1]
        if isinstance(source, Epoch):
            return source.at(positions)
        return np.where(positions < 0, np.int32(SEPARATOR), source[positions])


class Epoch:
    """One direction's reading order of one epoch."""

    def __init__(self, streams: Streams, *, direction: int, epoch: int) -> None:
        self.all_symbols, self.sentences, self.backward = (
            streams.all_symbols,
            np.asarray(streams.sentences),
            direction == 1,
        )
        order = reading_order(streams, direction=direction, epoch=epoch)
        self.order = order.astype(np.int32 if len(order) < 2**31 else np.int64)  # [S]
        lengths = np.diff(self.sentences)[order]
        self.starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])  # [S + 1], in the new order

    def at(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """The symbols at positions of the new order; before the first one stands a separator."""
        place = np.searchsorted(self.starts, positions, side="right") - 1
        sentence = self.order[np.maximum(place, 0)]
        inside = positions - self.starts[np.maximum(place, 0)]
        if self.backward:
            # Past the first word this reaches the separator of the sentence before (for sentence 0 the last one).
            index = self.sentences[sentence + 1] - 2 - inside
        else:
            index = self.sentences[sentence] + inside
        return np.where(positions < 0, np.int32(SEPARATOR), self.all_symbols[index])

    def lay_out(self) -> npt.NDArray[np.int32]:
        """The whole epoch as one array [N]."""
        whole = np.empty(len(self.all_symbols), dtype=np.int32)
        for start in range(0, len(whole), PIECE):
            whole[start : start + PIECE] = self.at(np.arange(start, min(start + PIECE, len(whole)), dtype=np.int64))
        return whole


def raw_keys(streams: Streams, *, direction: int, epoch: int) -> npt.NDArray[np.uint64]:
    """One random number for each unit that is put into order: a sentence, or a document.

    Raw random bits, whose order is then taken: numpy promises their stream for good, which it does not for
    `permutation`.
    """
    units = streams.sentences if streams.order == "sentence" else streams.documents
    bits = np.random.PCG64(np.random.SeedSequence([streams.seed, direction, epoch]))
    return np.asarray(bits.random_raw(len(units) - 1), dtype=np.uint64)


def reading_order(streams: Streams, *, direction: int, epoch: int) -> npt.NDArray[np.int64]:
    """The sentences in the order in which one direction reads them in one epoch."""
    order = np.argsort(raw_keys(streams, direction=direction, epoch=epoch), kind="stable")
    if streams.order == "sentence":
        return order
    return _sentences_of(order, np.asarray(streams.documents), backward=direction == 1)


def windows_per_epoch(symbols: int, *, batch: int, window: int) -> int:
    """Steps in an epoch; at least one, or the batch is too large for the text."""
    windows = symbols // (batch * window)
    if windows == 0:
        raise ConfigError(
            f"a batch of {batch} rows x {window} positions needs {batch * window} symbols, but the corpus has "
            f"{symbols} (a word or the end of a sentence is one); use at most {symbols // window} rows, or more text"
        )
    return windows


def rows_of_rank(batch: int, *, rank: int, world: int) -> slice:
    """The rows that one of `world` processes reads."""
    if batch % world:
        raise ConfigError(f"{batch} rows cannot be divided among {world} processes; use a multiple of {world}")
    rows = batch // world
    return slice(rank * rows, (rank + 1) * rows)


def _sentences_of(order: npt.NDArray[np.int64], first: Ints, *, backward: bool) -> npt.NDArray[np.int64]:
    """The sentences of documents in an order; the backward direction takes a document's last sentence first."""
    lengths = np.diff(first)[order]  # [documents]
    starts = np.cumsum(lengths) - lengths
    inside = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    if backward:
        return np.asarray(np.repeat(first[order + 1] - 1, lengths) - inside)
    return np.asarray(np.repeat(first[order], lengths) + inside)
