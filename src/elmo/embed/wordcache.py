"""Word vectors kept from batch to batch: each distinct word is encoded once, a bounded number of them is remembered."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from elmo.ops.transfer import to_device

DEFAULT_BYTES = 128 * 1024 * 1024


class WordCache:
    """A bounded map from words to vectors [D]; the words used longest ago make room.

    `encode` maps distinct words to vectors [W, D]; it alone knows how.
    """

    def __init__(
        self, encode: Callable[[Sequence[str]], Tensor], *, size: int, most_bytes: int = DEFAULT_BYTES
    ) -> None:
        self._encode = encode
        self._capacity = max(1, most_bytes // (4 * size))
        self._slots: dict[str, int] = {}  # in order of last use
        self._table: Tensor | None = None

    def clear(self) -> None:
        """Forget every word."""
        self._slots.clear()
        self._table = None

    def __len__(self) -> int:
        return len(self._slots)

    def look_up(self, words: Sequence[str]) -> Tensor:
        """The vectors of `words` (repeats allowed): [len(words), D]."""
        distinct = dict.fromkeys(words)
        if len(distinct) > self._capacity:
            return self._look_up_piecewise(words, list(distinct))
        missing = []
        for word in distinct:
            slot = self._slots.pop(word, None)
            if slot is None:
                missing.append(word)
            else:
                self._slots[word] = slot
        if missing:
            self._remember(missing)
        assert self._table is not None or not words
        if self._table is None:
            return self._encode([])
        index = np.fromiter(map(self._slots.__getitem__, words), dtype=np.int64, count=len(words))
        return self._table[to_device(torch.from_numpy(index), self._table.device)]

    def _remember(self, words: list[str]) -> None:
        vectors = self._encode(words)  # [W, D]
        used = len(self._slots)
        overflow = used + len(words) - self._capacity
        free = [self._slots.pop(word) for word in list(self._slots)[: max(0, overflow)]]
        free += range(used, used + len(words) - len(free))
        # The table outlives the call: made in inference mode, it could not be written outside of it.
        with torch.inference_mode(False), torch.no_grad():
            self._grow(max(free) + 1, like=vectors)
            assert self._table is not None
            self._table[to_device(torch.tensor(free), vectors.device)] = vectors
        self._slots.update(zip(words, free, strict=True))

    def _grow(self, rows: int, *, like: Tensor) -> None:
        have = 0 if self._table is None else len(self._table)
        if rows <= have:
            return
        capacity = min(self._capacity, max(rows, 2 * have, 1024))
        table = torch.empty(capacity, like.shape[1], dtype=like.dtype, device=like.device)
        if self._table is not None:
            table[:have] = self._table
        self._table = table

    def _look_up_piecewise(self, words: Sequence[str], distinct: list[str]) -> Tensor:
        """More distinct words than the cache holds: encode them piece by piece, remember none."""
        place = {word: n for n, word in enumerate(distinct)}
        pieces = [self._encode(distinct[n : n + self._capacity]) for n in range(0, len(distinct), self._capacity)]
        table = torch.cat(pieces)
        return table[to_device(torch.tensor([place[word] for word in words]), table.device)]
