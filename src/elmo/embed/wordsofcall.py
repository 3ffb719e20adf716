"""The vectors of the words of one call's sentences, a batch at a time.

On a CPU words are encoded when their batch comes. A GPU does so in a moment, and what costs is to find, batch by batch,
which words are known: there all words of the call are looked up at once.
"""

import numpy as np

from elmo.embed.numbered import Integers, NumberedSentences
from elmo.embed.wordcache import WordCache
from elmo.ops.arrays import Array, placed


class WordsOfCall:
    """Looks words up in a cache, which other calls share."""

    def __init__(self, sentences: NumberedSentences, cache: WordCache, *, at_once: bool) -> None:
        """`at_once`: all words before the first batch, if the cache has room for them."""
        self.cache = cache
        self._sentences = sentences
        self._at_once = at_once and len(sentences.words) <= cache.capacity
        self._table: Array | None = None  # [words, D]

    def of(self, batch: Integers) -> Array:
        """The vectors of the tokens of some sentences, one sentence behind the other: [tokens, D]."""
        if not self._at_once:
            return self.cache.look_up_distinct(*self._sentences.distinct(batch))
        if self._table is None:
            words = self._sentences.words
            self._at_once = False  # not a second time, if memory does not suffice
            self._table = self.cache.look_up_distinct(words, np.arange(len(words)))
            self._at_once = True
        index = self._sentences.ids[self._sentences.tokens_of(batch)].astype(np.int64)
        return self._table[placed(index, like=self._table)]
