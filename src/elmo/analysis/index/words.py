"""`WordList` of an index: its words in their order, found by halving, in no more memory than the answer takes."""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.analysis.index.layout import table_file, word_key
from elmo.errors import InputError


@dataclass(frozen=True, eq=False)
class IndexedWords:
    """V words in the order of `word_key`, and how often each occurs."""

    folder: Path
    content: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]  # [V + 1]
    counts: npt.NDArray[np.int64]  # [V]

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, number: int) -> str:
        content = self.content[self.ends[number] : self.ends[number + 1]].tobytes()
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            path = self.folder / table_file("words")
            raise InputError(f"{path}: word {number} is not UTF-8; build the index again") from None

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))

    def find(self, word: str, *, ignore_case: bool = False) -> range:
        """The numbers of a word: one or none, or those of all its spellings in upper and lower case."""
        if ignore_case:
            folded = word.lower()
            return self._range(lambda found: found.lower() < folded, lambda found: found.lower() <= folded)
        key = word_key(word)
        return self._range(lambda found: word_key(found) < key, lambda found: word_key(found) <= key)

    def beginning_with(self, start: str) -> range:
        """The numbers of the words that begin so, whatever their case."""
        folded = start.lower()
        size = len(folded)
        return self._range(lambda found: found.lower()[:size] < folded, lambda found: found.lower()[:size] <= folded)

    def most_frequent(self, count: int, among: range | None = None) -> list[tuple[str, int]]:
        """Words with their counts, the most frequent first; those that are equally frequent in their order."""
        numbers = range(len(self)) if among is None else among
        found = np.asarray(self.counts[numbers.start : numbers.stop])
        order = np.argsort(-found, kind="stable")[:count]
        return [(self[numbers.start + int(n)], int(found[n])) for n in order]

    def _range(self, before: Any, until: Any) -> range:
        first = bisect.bisect_left(range(len(self)), True, key=lambda number: not before(self[number]))
        last = bisect.bisect_left(range(len(self)), True, lo=first, key=lambda number: not until(self[number]))
        return range(first, last)
