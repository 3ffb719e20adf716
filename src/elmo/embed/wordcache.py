"""Word vectors kept from batch to batch: each distinct word is encoded once, a bounded number of them is remembered.

Threads may share a cache. Whatever stops a call in its middle, an error, Ctrl-C or a fork, the map is right afterwards:
a word is in it only while its vector is in its row, and no two words have the same row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.ops.arrays import Array, concatenate, empty, placed
from elmo.ops.threadlock import ThreadLock

DEFAULT_BYTES = 128 * 1024 * 1024
FEWEST_ROWS = 1024
ROOM = 8  # one word in so many makes room when it is wanted, so that it is looked for rarely


class WordCache:
    """A bounded map from words to vectors [D]; the words used longest ago make room.

    `encode` maps distinct words to vectors [W, D]; it alone knows how. A copy of a cache, pickled or deep, is empty.
    """

    def __init__(self, encode: Callable[[Sequence[str]], Array], *, size: int, most_bytes: int = DEFAULT_BYTES) -> None:
        self._encode = encode
        self.capacity = max(1, most_bytes // (4 * size))
        self._lock = ThreadLock()
        self._forget()

    def _forget(self) -> None:
        self._slots: dict[str, int] = {}
        self._free: list[int] = []  # rows of the table that no word has
        self._table: Array | None = None
        self._done: Any = None  # when a GPU has finished the call before
        self._calls = 0
        self._used = np.zeros(0, dtype=np.int64)  # [rows], the call that has used each of them last

    def clear(self) -> None:
        """Forget every word."""
        with self._lock.held():
            self._forget()

    def __len__(self) -> int:
        return len(self._slots)

    def look_up(self, words: Sequence[str]) -> Array:
        """The vectors of `words` (repeats allowed): [len(words), D]."""
        place = {word: n for n, word in enumerate(dict.fromkeys(words))}
        return self.look_up_distinct(list(place), np.array([place[word] for word in words], dtype=np.int64))

    def look_up_distinct(self, distinct: Sequence[str], index: npt.NDArray[np.int64]) -> Array:
        """The vectors of words that are given once each, as often and in the order that `index` says."""
        if len(distinct) > self.capacity:
            return self._look_up_piecewise(distinct, index)
        with self._lock.held(), self._in_turn():
            self._calls += 1
            slots = np.fromiter(map(self._slots.get, distinct, repeat(-1)), dtype=np.int64, count=len(distinct))
            missing = np.flatnonzero(slots < 0)
            self._used[slots[slots >= 0]] = self._calls
            if len(missing):
                slots[missing] = self._remember([distinct[n] for n in missing.tolist()])
            if self._table is None:
                return self._encode([])
            return self._table[placed(slots[index], like=self._table)]

    def _remember(self, words: list[str]) -> npt.NDArray[np.int64]:
        vectors = self._encode(words)  # [W, D]
        with _lasting(vectors):
            table, taken = self._take_rows(len(words), like=vectors)
            rows = np.array(taken, dtype=np.int64)
            table[placed(rows, like=vectors)] = vectors
        self._used[rows] = self._calls
        # Last: until now no word has one of these rows; when a call ends before this line, they are found again.
        self._slots.update(zip(words, taken, strict=True))
        return rows

    def _take_rows(self, count: int, *, like: Array) -> tuple[Array, list[int]]:
        """The table, and rows of it that no word has and no other call gets."""
        have = 0 if self._table is None else len(self._table)
        if len(self._free) + len(self._slots) < have:  # an interrupted call lost some
            self._free = sorted(set(range(have)) - set(self._slots.values()))
        if len(self._free) < count and have < self.capacity:
            rows = min(self.capacity, max(len(self._slots) + count, 2 * have, FEWEST_ROWS))
            grown = empty(rows, like.shape[1], like=like)
            if self._table is not None:
                grown[:have] = self._table
            self._used = np.concatenate([self._used[:have], np.zeros(rows - have, dtype=np.int64)])
            self._table = grown
            self._free += range(have, rows)
        if len(self._free) < count:
            self._make_room(count - len(self._free))
        taken = self._free[-count:]
        del self._free[-count:]
        assert self._table is not None
        return self._table, taken

    def _make_room(self, count: int) -> None:
        """Forget at least so many words, those that were used longest ago, and none that this call uses."""
        words = list(self._slots)
        used = self._used[np.fromiter(self._slots.values(), dtype=np.int64, count=len(words))]
        oldest = np.argsort(used, kind="stable")[: max(count, len(words) // ROOM)]
        for n in oldest[used[oldest] < self._calls].tolist():
            self._free.append(self._slots.pop(words[n]))

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """On a GPU each thread may have a stream of its own, and a lock alone does not order what they have queued."""
        if self._done is not None and self._table is not None:
            import torch

            self._done.wait(torch.cuda.current_stream(self._table.device))
        try:
            yield
        finally:
            if not isinstance(self._table, np.ndarray | None) and self._table.is_cuda:
                import torch

                stream = torch.cuda.current_stream(self._table.device)
                self._table.record_stream(stream)
                self._done = stream.record_event()

    def _look_up_piecewise(self, distinct: Sequence[str], index: npt.NDArray[np.int64]) -> Array:
        """More distinct words than the cache holds: encode them piece by piece, remember none."""
        pieces = [self._encode(distinct[n : n + self.capacity]) for n in range(0, len(distinct), self.capacity)]
        table = concatenate(pieces)
        return table[placed(index, like=table)]

    def __getstate__(self) -> dict[str, Any]:
        return {"_encode": self._encode, "capacity": self.capacity, "_lock": self._lock}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


@contextmanager
def _lasting(vectors: Array) -> Iterator[None]:
    """Tensors that outlive the call: made in inference mode, the table could not be written outside of it."""
    if isinstance(vectors, np.ndarray):
        yield
        return
    import torch

    with torch.inference_mode(False), torch.no_grad():
        yield
