"""Exact search: every row is compared, a block at a time; the best of each sentence are kept."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from elmo.analysis.index.layout import TOKENS
from elmo.analysis.index.vectors import ROWS_IN_BLOCK, Floats, StoredLayer

if TYPE_CHECKING:
    from elmo.analysis.index.wordindex import WordIndex

AT_FIRST = 8  # candidates looked at for each one that is wanted, since several may be of one sentence


@dataclass
class Candidates:
    """The best rows so far, at most one of a sentence, for one vector.

    `ranges`: the rows that may be found, [first, last) each. `passed`: the tokens of a sentence that is passed over.
    """

    ranges: list[tuple[int, int]]
    count: int
    passed: list[str] | None = None
    best: dict[int, tuple[float, int]] = field(default_factory=dict)  # sentence: (similarity, row)

    def within(self, first: int, last: int) -> list[tuple[int, int]]:
        """The rows of [first, last) that may be found."""
        cut = [(max(a, first), min(b, last)) for a, b in self.ranges]
        return [(a, b) for a, b in cut if a < b]

    def look_at(self, cosines: Floats, first: int, index: "WordIndex") -> None:
        """Take in what rows from `first` on have come to."""
        places = np.arange(len(cosines))
        if len(self.best) == self.count:
            places = np.flatnonzero(cosines >= min(similarity for similarity, _ in self.best.values()))
        size = AT_FIRST * self.count
        while True:
            chosen = places
            if len(places) > size:
                chosen = places[np.argpartition(cosines[places], -size)[-size:]]
            merged = self._merged(cosines[chosen], chosen + first, index)
            # What was left out is no better than the least that was looked at: that settles it if enough are above it.
            if len(chosen) == len(places) or (
                len(merged) == self.count and min(merged.values())[0] > float(cosines[chosen].min())
            ):
                self.best = merged
                return
            size *= 4

    def _merged(self, cosines: Floats, rows: npt.NDArray[np.int64], index: "WordIndex") -> dict[int, tuple[float, int]]:
        sentences = np.asarray(index.row_sentences[rows])
        entries = [
            *((-similarity, sentence, row) for sentence, (similarity, row) in self.best.items()),
            *zip((-cosines).tolist(), sentences.tolist(), rows.tolist(), strict=True),
        ]
        found: dict[int, tuple[float, int]] = {}
        for similarity, sentence, row in sorted(entries):  # earlier sentences win where similarities are equal
            if sentence in found or (self.passed is not None and index.sentence(sentence).words == self.passed):
                continue
            found[sentence] = (-similarity, row)
            if len(found) == self.count:
                break
        return found

    def found(self) -> list[tuple[float, int]]:
        """Similarities and rows, best first."""
        return list(self.best.values())


def search_rows(
    index: "WordIndex", stored: StoredLayer, vectors: Floats, best: list[Candidates], *, centred: bool
) -> None:
    """Fill the candidates of each of Q vectors [Q, D] from the rows that may be found for it."""
    for first in range(0, len(index), ROWS_IN_BLOCK):
        last = min(first + ROWS_IN_BLOCK, len(index))
        spans = [one.within(first, last) for one in best]
        whole = [n for n, span in enumerate(spans) if sum(b - a for a, b in span) * 2 > last - first]
        if whole:  # one product for all that need most of the block
            cosines = cosines_of_rows(index, stored, vectors[whole], first, last, centred=centred)
            for n, row in zip(whole, cosines, strict=True):
                for a, b in spans[n]:
                    best[n].look_at(row[a - first : b - first], a, index)
        for n, span in enumerate(spans):
            if n not in whole:
                for a, b in span:
                    found = cosines_of_rows(index, stored, vectors[n : n + 1], a, b, centred=centred)
                    best[n].look_at(found[0], a, index)


def cosines_of_rows(
    index: "WordIndex", stored: StoredLayer, vectors: Floats, first: int, last: int, *, centred: bool
) -> Floats:
    """[Q, last - first]; layer 0 has a row for each word, whose uses are all alike."""
    if stored.name != TOKENS:
        return stored.cosines(vectors, slice(first, last), centred=centred)
    starts = index.word_starts
    a = int(np.searchsorted(starts, first, side="right")) - 1
    b = int(np.searchsorted(starts, last, side="left"))
    ends = np.clip(starts[a : b + 1], first, last)
    return np.repeat(stored.cosines(vectors, slice(a, b), centred=centred), ends[1:] - ends[:-1], axis=1)
