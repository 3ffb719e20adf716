"""A collection of sentences to look into: where its words are used, the vectors of the uses, what is near to a word.

N uses, L layers, T tokens, D dimensions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from elmo.analysis.choices import Words
from elmo.analysis.examples import SENSE_SETS, read_everyday, read_senses
from elmo.analysis.similarity import unit
from elmo.embed.embedder import Embedder
from elmo.text.textfiles import Paths, placed_sentences
from elmo.text.tokenizer import Tokenizer

Floats = npt.NDArray[np.floating]
Item = TypeVar("Item")

MOST_NEAR_TOKENS = 20_000  # whose vectors are kept, in every layer, for neighbours: 120 MB of the packaged model
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


class Near(NamedTuple):
    """A word that is near to another: where it stands, and their cosine."""

    place: Place
    similarity: float


@dataclass(frozen=True, eq=False)
class Collection:
    """Sentences in memory, and where each of their words stands."""

    embedder: Embedder
    passages: Sequence[Passage]
    _places: dict[str, list[Place]] = field(init=False, default_factory=dict)
    _spellings: dict[str, list[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for sentence, passage in enumerate(self.passages):
            for token, word in enumerate(passage.tokens):
                if word not in self._places:
                    self._places[word] = []
                    self._spellings.setdefault(word.casefold(), []).append(word)
                self._places[word].append(Place(sentence, token))

    def counts(self) -> Counter[str]:
        """How often each word is used."""
        return Counter({word: len(places) for word, places in self._places.items()})

    def places(self, word: str, *, ignore_case: bool = False) -> list[Place]:
        """Where a word is used, in the order of the text."""
        if not ignore_case:
            return list(self._places.get(word, ()))
        return sorted(place for same in self._spellings.get(word.casefold(), ()) for place in self._places[same])

    def vectors(self, places: Sequence[Place]) -> Floats:
        """The vectors of words in each layer: [L, N, D]."""
        numbers = list(dict.fromkeys(place.sentence for place in places))
        found: list[Floats] = [np.empty(0)] * len(places)
        wanted: dict[int, list[int]] = {}
        for n, place in enumerate(places):
            wanted.setdefault(place.sentence, []).append(n)
        for start in range(0, len(numbers), 512):  # so that whole sentences are never kept all at once
            block = numbers[start : start + 512]
            for number, layers in zip(block, self._embed([self.passages[n].tokens for n in block]), strict=True):
                for n in wanted[number]:
                    found[n] = layers[:, places[n].token].copy()
        return np.stack(found, axis=1)

    @cached_property
    def mean(self) -> Floats:
        """The mean vector of the tokens in each layer [L, 1, D], from at most 200 of the sentences, evenly taken."""
        taken = evenly(self.passages, MOST_MEAN_SENTENCES)
        layers = np.concatenate(self._embed([passage.tokens for passage in taken]), axis=1)
        return layers.mean(axis=1, keepdims=True)

    @cached_property
    def searched(self) -> "Searched":
        """The sentences in which neighbours are looked for: all of them, or evenly taken ones of a long text."""
        total = sum(len(passage.tokens) for passage in self.passages)
        share = min(1.0, MOST_NEAR_TOKENS / max(1, total))
        numbers = evenly(range(len(self.passages)), max(1, int(len(self.passages) * share)))
        places, blocks = [], []
        for start in range(0, len(numbers), 512):
            block = numbers[start : start + 512]
            for number, layers in zip(block, self._embed([self.passages[n].tokens for n in block]), strict=True):
                places += [Place(number, token) for token in range(layers.shape[1])]
                blocks.append(layers)
        return Searched(len(numbers), places, unit(np.concatenate(blocks, axis=1)))

    def near(self, tokens: Sequence[str], place: int, *, words: Words, count: int) -> list[list[Near]]:
        """In each layer the `count` words nearest to one of a sentence, at most one of a sentence, never its own."""
        asked = unit(self._embed([tokens])[0][:, place])  # [L, D]
        own, word = list(tokens), tokens[place].casefold()
        kept = [
            n
            for n, at in enumerate(self.searched.places)
            if (words == "all" or (self._word(at).casefold() == word) == (words == "same"))
        ]
        found: list[list[Near]] = []
        for layer, vector in enumerate(asked):
            similar = self.searched.vectors[layer][kept] @ vector if kept else np.empty(0)
            nearest: dict[int, Near] = {}
            for n in np.argsort(-similar, kind="stable").tolist():
                at = self.searched.places[kept[n]]
                if at.sentence not in nearest and self.passages[at.sentence].tokens != own:
                    nearest[at.sentence] = Near(at, float(similar[n]))
                    if len(nearest) == count:
                        break
            found.append(list(nearest.values()))
        return found

    def _word(self, place: Place) -> str:
        return self.passages[place.sentence].tokens[place.token]

    def _embed(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """All layers of each sentence: [L, T, D]."""
        return [*self.embedder.encode(sentences, layers="all", show_progress_bar=False)]


@dataclass(frozen=True, eq=False)
class Searched:
    """Words in which neighbours are looked for: of how many sentences, where they stand, unit vectors [L, N, D]."""

    sentences: int
    places: list[Place]
    vectors: Floats


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


def evenly(items: Iterable[Item], count: int) -> list[Item]:
    """At most `count` of them, from the whole length."""
    items = list(items)
    if len(items) <= count:
        return items
    return [items[n] for n in np.linspace(0, len(items) - 1, count).astype(int).tolist()]
