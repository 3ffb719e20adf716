"""An interpolated Kneser-Ney trigram model (NLTK) over a corpus store: held-out perplexity on the same split,
vocabulary and symbols as ours, in both directions. Used by `beats_trigram.py`.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from nltk.lm import NgramCounter
from nltk.lm.smoothing import KneserNey

from elmo.corpus import CorpusStore

ORDER = 3
DISCOUNT = 0.75
BEGIN, END = -1, 1


def sentences_of(store: CorpusStore, split: str, *, backward: bool) -> Iterator[list[int]]:
    """Vocabulary ids of each sentence with its end, in reading order."""
    targets, tokens, ends = np.asarray(store.type_targets), store.symbols(split), store.sentences(split)
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        words = targets[tokens[first : last - 1]].tolist()
        yield [*(words[::-1] if backward else words), END]


class FastKneserNey(KneserNey):
    """NLTK's estimator with its continuation counts looked up; NLTK goes through all n-grams at each call."""

    def __init__(self, counter: NgramCounter) -> None:
        super().__init__(None, counter, ORDER, discount=DISCOUNT)
        self._with_word: Counter[tuple[int, ...]] = Counter()
        self._totals: Counter[tuple[int, ...]] = Counter()
        for order in range(2, ORDER + 1):
            for prefix, counts in counter[order].items():
                for word in counts:
                    self._with_word[(*prefix[1:], word)] += 1
                self._totals[prefix[1:]] += len(counts)

    def _continuation_counts(self, word: int, context: tuple[int, ...] = ()) -> tuple[int, int]:
        return self._with_word[(*context, word)], self._totals[context]


def trigram_loss(store: CorpusStore, *, backward: bool) -> float:
    """Mean negative log-probability (nats) of the held-out symbols."""
    counter = NgramCounter()
    for sentence in sentences_of(store, "train", backward=backward):
        padded = [BEGIN] * (ORDER - 1) + sentence
        counter.update(
            [
                [
                    tuple(padded[end - n + 1 : end + 1])
                    for end in range(ORDER - 1, len(padded))
                    for n in range(1, ORDER + 1)
                ]
            ]
        )
    estimator = FastKneserNey(counter)

    def probability(word: int, context: tuple[int, ...]) -> float:
        if not context:
            return float(estimator.unigram_score(word))
        alpha, gamma = estimator.alpha_gamma(word, context) if counter[context] else (0.0, 1.0)
        return alpha + gamma * probability(word, context[1:])

    total, symbols = 0.0, 0
    for sentence in sentences_of(store, "heldout", backward=backward):
        padded = [BEGIN] * (ORDER - 1) + sentence
        for end in range(ORDER - 1, len(padded)):
            total -= math.log(probability(padded[end], tuple(padded[end - ORDER + 1 : end])))
            symbols += 1
    assert symbols == len(store.heldout_symbols)
    return total / symbols
