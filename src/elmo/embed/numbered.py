"""Sentences as numbers: their distinct words, and for each token the number of its word.

What follows works on arrays of numbers, not on a Python object for each token.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class NumberedSentences:
    """The tokens of all sentences one behind the other; a word may stand in `words` that no token has."""

    words: list[str]  # distinct
    ids: npt.NDArray[np.int32]  # [tokens], numbers of words
    lengths: Integers  # [sentences], in tokens

    @cached_property
    def starts(self) -> Integers:
        """The first token of each sentence, and at last the number of tokens: [sentences + 1]."""
        return running_total(self.lengths)

    def words_of(self, sentence: int) -> list[str]:
        """The tokens of one sentence as words."""
        numbers = self.ids[self.starts[sentence] : self.starts[sentence + 1]]
        return [self.words[number] for number in numbers.tolist()]

    def tokens_of(self, sentences: Integers) -> Integers:
        """The places of the tokens of some sentences, one sentence behind the other."""
        return ranges(self.starts[sentences], self.lengths[sentences])

    def distinct(self, sentences: Integers) -> tuple[list[str], Integers]:
        """The distinct words of some sentences, and for each of their tokens its place among these."""
        ids = self.ids[self.tokens_of(sentences)]
        used = np.zeros(len(self.words), dtype=bool)
        used[ids] = True
        numbers = np.flatnonzero(used)
        place = np.empty(len(self.words), dtype=np.int64)
        place[numbers] = np.arange(len(numbers))
        return list(map(self.words.__getitem__, numbers.tolist())), place[ids]


def number_sentences(sentences: Sequence[Sequence[str]]) -> NumberedSentences:
    """Number the words of sentences in the order in which they come."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    found = map(numbers.__getitem__, chain.from_iterable(sentences))
    ids = np.fromiter(found, dtype=np.int32, count=int(lengths.sum()))
    return NumberedSentences(words=list(numbers), ids=ids, lengths=lengths)


def running_total(counts: Integers) -> Integers:
    """Where each of so many begins, and at last where all end."""
    totals = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=totals[1:])
    return totals


def ranges(starts: Integers, counts: Integers) -> Integers:
    """The numbers from each start on, so many of each, one range behind the other."""
    before = np.cumsum(counts) - counts
    numbers: Integers = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(starts - before, counts)
    return numbers
