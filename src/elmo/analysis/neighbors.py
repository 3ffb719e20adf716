"""The nearest neighbours of a word in its context: words of other sentences with the most similar vectors."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from elmo.embed.embedder import BAR_AFTER_SECONDS, Embedder
from elmo.embed.progress import TextBar
from elmo.embed.selection import Layers
from elmo.embed.similarity import place_of
from elmo.errors import ConfigError

BATCH = 256
BLOCK = 512  # sentences embedded at once, so that a large text needs no more memory than a small one

Words = Literal["all", "same", "other"]


class Neighbor(NamedTuple):
    """A word in a sentence, and how similar it is (cosine)."""

    similarity: float
    tokens: list[str]
    place: int

    @property
    def word(self) -> str:
        """The word itself."""
        return self.tokens[self.place]

    @property
    def marked(self) -> str:
        """Its sentence, the word in brackets."""
        return " ".join([*self.tokens[: self.place], f"[{self.word}]", *self.tokens[self.place + 1 :]])


def find_neighbors(
    embedder: Embedder,
    queries: Sequence[tuple[str, str]],
    sentences: Iterable[str] | Iterable[Sequence[str]],
    *,
    layers: Layers = "top",
    count: int = 5,
    words: Words = "all",
    files: Sequence[str] = (),
) -> list[list[Neighbor]]:
    """For each (word, raw sentence) the `count` nearest words among `sentences`, at most one of a sentence.

    `words`: look at all words, only at uses of the "same" word, or only at "other" words (upper and lower case are the
    same here). The query's own sentence is passed over where it occurs. `files`: where the sentences are read from, if
    they are, so that a terminal sees how much is left.
    """
    if layers == "all":
        raise ConfigError("layers is 'all', but neighbours are of one vector: 'top', 'mean' or a number")
    asked, tokens = embedder.encode([text for _, text in queries], layers=layers, normalize=True, return_tokens=True)
    places = [place_of(word, found.words) for (word, _), found in zip(queries, tokens, strict=True)]
    own = [list(found.words) for found in tokens]
    vectors = [asked[n][place] for n, place in enumerate(places)]  # [D] each
    best: list[list[tuple[float, int, list[str], int]]] = [[] for _ in queries]
    number = 0
    with TextBar(files, unit="sentences", delay=BAR_AFTER_SECONDS) as bar:
        for block in _blocks(sentences):
            embedded, found = embedder.encode(
                block, layers=layers, batch_size=BATCH, normalize=True, return_tokens=True, show_progress_bar=False
            )
            for rows, sentence in zip(embedded, found, strict=True):
                number -= 1  # earlier sentences win where similarities are equal
                read = list(sentence if isinstance(sentence, list) else sentence.words)
                for n, (word, _) in enumerate(queries):
                    candidates = [] if read == own[n] else _candidates(read, word, words)
                    if candidates:
                        similar = rows[candidates] @ vectors[n]
                        top = int(np.argmax(similar))
                        heapq.heappush(best[n], (float(similar[top]), number, read, candidates[top]))
                        if len(best[n]) > count:
                            heapq.heappop(best[n])
                bar.advance(sum(len(word.encode("utf-8", "replace")) + 1 for word in read), count=1, tokens=len(read))
        bar.complete()
    return [
        [Neighbor(similarity, read, place) for similarity, _, read, place in sorted(found, reverse=True)]
        for found in best
    ]


def _candidates(tokens: Sequence[str], word: str, words: Words) -> list[int]:
    if words == "all":
        return list(range(len(tokens)))
    same = words == "same"
    return [n for n, token in enumerate(tokens) if (token.lower() == word.lower()) == same]


def _blocks(sentences: Iterable[str] | Iterable[Sequence[str]]) -> Iterator[list[str]]:
    rest: Iterator[str] = iter(sentences)  # type: ignore[arg-type] # of one kind or the other; encode tells them apart
    while block := list(islice(rest, BLOCK)):
        yield block
