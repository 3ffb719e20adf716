"""A collection in memory: sentences of a text of some thousand lines, embedded when they are asked for.

N words, L layers, D dimensions.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from elmo.analysis.collection import MOST_MEAN_SENTENCES, Collection, Floats, Passage, Place, evenly, mean_of
from elmo.analysis.neighbors import Neighbor
from elmo.analysis.similarity import unit
from elmo.embed.embedder import Embedder
from elmo.errors import InputError

MOST_TOKENS = 3_000_000
MOST_SEARCHED_TOKENS = 20_000  # whose vectors are kept, in every layer, for neighbours: 120 MB of the packaged model


class Searched(NamedTuple):
    """Words in which neighbours are looked for: of how many sentences, where they stand, vectors [L, N, D]."""

    sentences: int
    places: list[Place]
    vectors: Floats


class TextCollection(Collection):
    """Sentences in memory, and where each of their words stands."""

    def __init__(self, embedder: Embedder, passages: Iterable[Passage]) -> None:
        self.embedder = embedder
        self._passages: list[Passage] = []
        self._places: dict[str, list[Place]] = {}
        self._tokens = 0
        for passage in passages:
            own = passage._replace(tokens=list(map(sys.intern, passage.tokens)))  # a word's letters are kept once
            for token, word in enumerate(own.tokens):
                self._places.setdefault(word, []).append(Place(len(self._passages), token))
            self._passages.append(own)
            self._tokens += len(own.tokens)
            if self._tokens > MOST_TOKENS:
                raise InputError(
                    f"the text has more than {MOST_TOKENS:,} words, which are too many to keep in memory; make an "
                    "index of it with `elmo index build`, and look into that with --index"
                )
        self._spellings: dict[str, list[str]] = {}
        for word in self._places:
            self._spellings.setdefault(word.casefold(), []).append(word)

    @property
    def sentence_count(self) -> int:
        """How many sentences it has."""
        return len(self._passages)

    @property
    def token_count(self) -> int:
        """How many tokens they have."""
        return self._tokens

    @property
    def searched_count(self) -> int:
        """In how many of them neighbours are looked for: all, or evenly taken ones of a long text."""
        share = min(1.0, MOST_SEARCHED_TOKENS / max(1, self._tokens))
        return max(1, int(len(self._passages) * share))

    def passage(self, sentence: int) -> Passage:
        """A sentence by its number."""
        return self._passages[sentence]

    def words(self, most: int) -> list[tuple[str, int]]:
        """The most frequent words, and how often each is used."""
        counts = [(word, len(places)) for word, places in self._places.items()]
        return sorted(counts, key=lambda pair: -pair[1])[:most]

    def places(self, word: str, *, most: int, ignore_case: bool = False) -> tuple[list[Place], int]:
        """Where a word is used, evenly taken if there are more than `most`; and how many there are."""
        if ignore_case:
            found = sorted(place for same in self._spellings.get(word.casefold(), ()) for place in self._places[same])
        else:
            found = self._places.get(word, [])
        return evenly(found, most), len(found)

    def vectors(self, places: Sequence[Place]) -> Floats:
        """The vectors of words in each layer: [L, N, D]."""
        return self._embedded(places)

    def mean(self) -> Floats:
        """The mean vector in each layer [L, 1, D], from at most 200 of the sentences, evenly taken."""
        return self._mean

    @cached_property
    def _mean(self) -> Floats:
        sentences = [passage.tokens for passage in evenly(self._passages, MOST_MEAN_SENTENCES)]
        return mean_of(self.embed(sentences))

    @cached_property
    def _searched(self) -> Searched:
        numbers = evenly(range(len(self._passages)), self.searched_count)
        layers = list(self.embed([self._passages[n].tokens for n in numbers]))
        places = [Place(n, token) for n, own in zip(numbers, layers, strict=True) for token in range(own.shape[1])]
        return Searched(len(numbers), places, np.concatenate(layers, axis=1))

    def near(self, tokens: Sequence[str], place: int, *, count: int) -> list[list[Neighbor]]:
        """In each layer the `count` words nearest to one of a sentence, at most one of a sentence, never its own."""
        asked = unit(self.embedder.encode([tokens], layers="all", show_progress_bar=False)[0][:, place])  # [L, D]
        own = list(tokens)
        found: list[list[Neighbor]] = []
        for vectors, vector in zip(self._searched.vectors, asked, strict=True):
            similar = vectors @ vector
            nearest: dict[int, Neighbor] = {}
            for n in np.argsort(-similar, kind="stable").tolist():
                at = self._searched.places[n]
                passage = self._passages[at.sentence]
                if at.sentence not in nearest and passage.tokens != own:
                    nearest[at.sentence] = Neighbor(
                        float(similar[n]), passage.tokens, at.token, passage.file, passage.line
                    )
                    if len(nearest) == count:
                        break
            found.append(list(nearest.values()))
        return found
