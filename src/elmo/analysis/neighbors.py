"""The nearest neighbours of a word in its context: words of other sentences with the most similar vectors."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.analysis.choices import Words
from elmo.analysis.similarity import choose_place
from elmo.embed.bulk.progress import TextBar
from elmo.embed.choices import Layers
from elmo.embed.embedder import BAR_AFTER_SECONDS, Embedder
from elmo.errors import ConfigError, InputError
from elmo.text.textfiles import PlacedSentence

BATCH = 256
BLOCK = 512  # sentences embedded at once, so that a large text needs no more memory than a small one


class Question(NamedTuple):
    """A word in a raw sentence; `occurrence` (from 1) says which one, where there are several: the first if None.

    `origin`: where it was read, for an error to name.
    """

    word: str
    sentence: str
    occurrence: int | None = None
    origin: str | None = None


class Neighbor(NamedTuple):
    """A word in a sentence, how similar it is (cosine), and where the sentence stands, if that was told."""

    similarity: float
    tokens: list[str]
    place: int
    file: str | None = None
    line: int | None = None

    @property
    def word(self) -> str:
        """The word itself."""
        return self.tokens[self.place]

    @property
    def marked(self) -> str:
        """Its sentence, the word in brackets."""
        return " ".join([*self.tokens[: self.place], f"[{self.word}]", *self.tokens[self.place + 1 :]])


class Answer(NamedTuple):
    """What was asked, as the model reads it, and its nearest neighbours."""

    asked: Neighbor  # the word itself, of similarity 1
    neighbors: list[Neighbor]


def find_neighbors(
    embedder: Embedder,
    questions: Sequence[Question | tuple[str, str]],
    sentences: Iterable[str] | Iterable[Sequence[str]] | Iterable[PlacedSentence],
    *,
    layers: Layers = "top",
    count: int = 5,
    words: Words = "all",
    ignore_case: bool = False,
    files: Sequence[str] = (),
) -> list[list[Neighbor]]:
    """For each (word, raw sentence) the `count` nearest words among `sentences`, at most one of a sentence.

    The sentences are embedded once, however many questions there are. `words`: look at all words, only at uses of the
    "same" word, or only at "other" words (upper and lower case are the same here). `ignore_case`: whether `Bank` in a
    question's sentence is its word `bank`. A question's own sentence is passed over where it occurs. `files`: where the
    sentences are read from, if they are, so that a terminal sees how much is left.
    """
    found = answer_questions(
        embedder, questions, sentences, layers=layers, count=count, words=words, ignore_case=ignore_case, files=files
    )
    return [answer.neighbors for answer in found]


def answer_questions(
    embedder: Embedder,
    questions: Sequence[Question | tuple[str, str]],
    sentences: Iterable[str] | Iterable[Sequence[str]] | Iterable[PlacedSentence],
    *,
    layers: Layers = "top",
    count: int = 5,
    words: Words = "all",
    ignore_case: bool = False,
    files: Sequence[str] = (),
) -> list[Answer]:
    """The same, with the tokens of each question and the place of the word that was taken."""
    if layers == "all":
        raise ConfigError("layers is 'all', but neighbours are of one vector: 'top', 'mean' or a number")
    asked = ask_questions(embedder, [Question(*question) for question in questions], layers, ignore_case=ignore_case)
    best: list[list[tuple[float, int, Neighbor]]] = [[] for _ in asked]
    number = 0
    with TextBar(files, unit="sentences", delay=BAR_AFTER_SECONDS) as bar:
        for block in _blocks(sentences):
            texts = [one.words if isinstance(one, PlacedSentence) else one for one in block]
            embedded, tokens = embedder.encode(
                texts, layers=layers, batch_size=BATCH, normalize=True, return_tokens=True, show_progress_bar=False
            )
            size = 0  # bytes of the text, as far as tokens tell
            for given, rows, sentence in zip(block, embedded, tokens, strict=True):
                number -= 1  # earlier sentences win where similarities are equal
                read = list(sentence if isinstance(sentence, list) else sentence.words)
                file, line = (given.file, given.line) if isinstance(given, PlacedSentence) else (None, None)
                for (own, vector), nearest in zip(asked, best, strict=True):
                    candidates = [] if read == own.tokens else _candidates(read, own.word, words)
                    if candidates:
                        similar = rows[candidates] @ vector
                        top = int(np.argmax(similar))
                        found = Neighbor(float(similar[top]), read, candidates[top], file, line)
                        heapq.heappush(nearest, (found.similarity, number, found))
                        if len(nearest) > count:
                            heapq.heappop(nearest)
                size += sum(len(word.encode("utf-8", "replace")) + 1 for word in read)
            bar.advance(size, count=len(block), tokens=sum(map(len, embedded)))
        bar.complete()
    return [
        Answer(own, [neighbor for _, _, neighbor in sorted(nearest, reverse=True)])
        for (own, _), nearest in zip(asked, best, strict=True)
    ]


def ask_questions(
    embedder: Embedder, questions: Sequence[Question], layers: Layers, *, ignore_case: bool
) -> list[tuple[Neighbor, npt.NDArray[np.floating]]]:
    """The place of each question's word, and its vector [D], of length 1."""
    rows, tokens = embedder.encode([q.sentence for q in questions], layers=layers, normalize=True, return_tokens=True)
    found = []
    for question, vectors, read in zip(questions, rows, tokens, strict=True):
        try:
            place = choose_place(question.word, read.words, occurrence=question.occurrence, ignore_case=ignore_case)
        except InputError as error:
            if question.origin is None:
                raise
            raise InputError(f"{question.origin}: {error}") from None
        found.append((Neighbor(1.0, list(read.words), place), vectors[place]))
    return found


def _candidates(tokens: Sequence[str], word: str, words: Words) -> list[int]:
    if words == "all":
        return list(range(len(tokens)))
    same = words == "same"
    return [n for n, token in enumerate(tokens) if (token.lower() == word.lower()) == same]


def _blocks(sentences: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(sentences)  # of one kind or another; encode tells texts from tokens
    while block := list(islice(rest, BLOCK)):
        yield block
