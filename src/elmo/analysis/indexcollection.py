"""A collection on disk: an index of a corpus (`elmo.analysis.index`), which has its words and finds their neighbours.

N words, L layers, D dimensions.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elmo.analysis.collection import MOST_MEAN_SENTENCES, Collection, Floats, Passage, Place, evenly, mean_of
from elmo.analysis.index import WordIndex
from elmo.analysis.neighbors import Neighbor
from elmo.analysis.similarity import unit
from elmo.embed.embedder import Embedder


class IndexCollection(Collection):
    """The sentences of an index. Layers that it does not hold are computed for the sentences that are asked for."""

    def __init__(self, embedder: Embedder, index: WordIndex) -> None:
        index.check_model(embedder)
        self.embedder, self.index = embedder, index
        self._names = [str(layer) for layer in range(embedder.layer_count)]
        self._has_all = set(self._names) <= set(index.layers)

    @property
    def sentence_count(self) -> int:
        """How many sentences it has."""
        return self.index.manifest.sentences

    @property
    def token_count(self) -> int:
        """How many tokens they have."""
        return self.index.manifest.tokens

    @property
    def searched_count(self) -> int:
        """In how many of them neighbours are looked for: all."""
        return self.sentence_count

    def passage(self, sentence: int) -> Passage:
        """A sentence by its number."""
        file, line, words = self.index.sentence(sentence)
        return Passage(words, file, line)

    def words(self, most: int) -> list[tuple[str, int]]:
        """The most frequent words, and how often each is used."""
        return self.index.words.most_frequent(most)

    def places(self, word: str, *, most: int, ignore_case: bool = False) -> tuple[list[Place], int]:
        """Where a word is used, evenly taken if there are more than `most`; and how many there are."""
        uses = self.index.uses(word, ignore_case=ignore_case)
        taken = uses.spread(most)
        columns = (taken.sentences.tolist(), taken.places.tolist(), taken.rows.tolist())
        return [Place(*place) for place in zip(*columns, strict=True)], len(uses)

    def vectors(self, places: Sequence[Place]) -> Floats:
        """The vectors of words in each layer [L, N, D]: those of the index where it holds all layers."""
        rows = [place.row for place in places if place.row is not None]
        if not self._has_all or len(rows) < len(places):
            return self._embedded(places)
        return np.stack([self.index.vectors(rows, name) for name in self._names])

    def mean(self) -> Floats:
        """The mean vector in each layer [L, 1, D]: that of all tokens, or of 200 sentences for layers not held."""
        return self._mean

    @cached_property
    def _mean(self) -> Floats:
        if self._has_all:
            return np.stack([self.index.mean(name) for name in self._names])[:, None]
        taken = evenly(range(self.sentence_count), MOST_MEAN_SENTENCES)
        return mean_of(self.embed([self.passage(number).tokens for number in taken]))

    def near(self, tokens: Sequence[str], place: int, *, count: int) -> list[list[Neighbor]]:
        """In each layer that the index holds the `count` words nearest to one of a sentence; in others none."""
        asked = unit(self.embedder.encode([tokens], layers="all", show_progress_bar=False)[0][:, place])  # [L, D]
        return [
            self.index.search(vector, layer=name, count=count, but_not=list(tokens))
            if name in self.index.layers
            else []
            for name, vector in zip(self._names, asked, strict=True)
        ]
