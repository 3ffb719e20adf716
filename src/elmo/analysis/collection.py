"""A collection of sentences to look into: where its words are used, the vectors of the uses, what is near to a word.

All vectors are of length 1. N uses, L layers, T tokens, D dimensions.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from elmo.analysis.examples import SENSE_SETS, read_everyday, read_senses
from elmo.analysis.neighbors import Neighbor
from elmo.analysis.similarity import unit
from elmo.embed.embedder import Embedder
from elmo.text.textfiles import Paths, placed_sentences
from elmo.text.tokenizer import Tokenizer

Floats = npt.NDArray[np.floating]
Item = TypeVar("Item")

BLOCK = 512  # sentences embedded at once; their vectors are let go when those of their words are taken
MOST_MEAN_SENTENCES = 200


class Passage(NamedTuple):
    """A sentence, where it stands, and the senses of those of its words whose sense is known."""

    tokens: list[str]
    file: str | None = None
    line: int | None = None
    senses: Mapping[str, str] | None = None


class Place(NamedTuple):
    """A word in a collection: the number of its sentence and of the token there, both from 0."""

    sentence: int
    token: int
    row: int | None = None  # of an index


class Collection(ABC):
    """Sentences that can be asked for their words."""

    embedder: Embedder

    @property
    @abstractmethod
    def sentence_count(self) -> int:
        """How many sentences it has."""

    @property
    @abstractmethod
    def token_count(self) -> int:
        """How many tokens they have."""

    @property
    @abstractmethod
    def searched_count(self) -> int:
        """In how many of them neighbours are looked for."""

    @abstractmethod
    def passage(self, sentence: int) -> Passage:
        """A sentence by its number."""

    @abstractmethod
    def words(self, most: int) -> list[tuple[str, int]]:
        """The most frequent words, and how often each is used."""

    @abstractmethod
    def places(self, word: str, *, most: int, ignore_case: bool = False) -> tuple[list[Place], int]:
        """Where a word is used, evenly taken if there are more than `most`; and how many there are."""

    @abstractmethod
    def vectors(self, places: Sequence[Place]) -> Floats:
        """The vectors of words in each layer: [L, N, D]."""

    @abstractmethod
    def mean(self) -> Floats:
        """The mean vector of the tokens in each layer: [L, 1, D]."""

    @abstractmethod
    def near(self, tokens: Sequence[str], place: int, *, count: int) -> list[list[Neighbor]]:
        """In each layer the `count` words nearest to one of a sentence, at most one of a sentence, never its own."""

    def embed(self, sentences: Sequence[Sequence[str]]) -> Iterator[Floats]:
        """All layers of each sentence, [L, T, D], some sentences at a time."""
        for start in range(0, len(sentences), BLOCK):
            block = sentences[start : start + BLOCK]
            yield from map(unit, self.embedder.encode(block, layers="all", show_progress_bar=False))

    def _embedded(self, places: Sequence[Place]) -> Floats:
        """The vectors of words, computed now: each sentence is embedded once."""
        wanted: dict[int, list[int]] = {}
        for n, place in enumerate(places):
            wanted.setdefault(place.sentence, []).append(n)
        found: list[Floats] = [np.empty(0)] * len(places)
        sentences = [self.passage(number).tokens for number in wanted]
        for numbers, layers in zip(wanted.values(), self.embed(sentences), strict=True):
            for n in numbers:
                found[n] = layers[:, places[n].token].copy()
        return np.stack(found, axis=1)


def packaged_passages(tokenizer: Tokenizer) -> Iterator[Passage]:
    """All packaged sentences: 49 ambiguous words whose sense is known, and 220 sentences of every day."""
    for name in SENSE_SETS:
        for use in read_senses(name):
            yield Passage(tokenizer.tokenize(use.sentence).words, senses={use.word: use.sense})
    for sentence in read_everyday():
        yield Passage(tokenizer.tokenize(sentence).words)


def passages_of_files(paths: Paths, tokenizer: Tokenizer, *, tokenized: bool) -> Iterator[Passage]:
    """The sentences of text files, each with its place."""
    for file, line, words in placed_sentences(paths, tokenizer, tokenized=tokenized):
        yield Passage(words, file, line)


def passages_of_text(text: str, tokenizer: Tokenizer) -> Iterator[Passage]:
    """The sentences of a text, each with its line."""
    for number, line in enumerate(text.splitlines(), start=1):
        for words in tokenizer.sentence_words(line):
            if words:
                yield Passage(words, line=number)


def mean_of(layers: Iterable[Floats]) -> Floats:
    """The mean over all tokens of some sentences [L, T, D] each: [L, 1, D]."""
    found: Floats = np.concatenate(list(layers), axis=1).mean(axis=1, keepdims=True)
    return found


def evenly(items: Iterable[Item], count: int) -> list[Item]:
    """At most `count` of them, from the whole length."""
    items = list(items)
    if len(items) <= count:
        return items
    return [items[n] for n in np.linspace(0, len(items) - 1, count).astype(int).tolist()]
