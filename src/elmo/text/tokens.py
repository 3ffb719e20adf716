"""Tokens and their places in a text. Knows white space and nothing of languages: the rules say how a chunk is cut.

A *chunk* is a stretch without white space, in the sense of `str.split()` (so also at no-break and ideographic spaces).
A rule cuts a chunk into *pieces* that, put together again, give the chunk: a start is all that a piece needs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import overload

Pieces = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text in order; token i stands at `text[starts[i] : starts[i] + len(words[i])]`.

    As a sequence it is its words: `list(tokens)`, `tokens[0]`, `"bank" in tokens`. `sentence_starts` has the number of
    the first token of each sentence: `[0]` for one sentence, none without tokens.
    """

    words: list[str]
    starts: list[int]
    sentence_starts: list[int]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each token, in characters of the text."""
        return [(start, start + len(word)) for word, start in zip(self.words, self.starts, strict=True)]

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.words[place]


class PiecesCache(dict[str, Pieces]):
    """The pieces of the chunks seen lately, worked out by `cut` on a miss; bounded in entries and in their length."""

    # Running text of a million words has about 60,000 distinct chunks; longer ones do not come back.
    ENTRIES = 1 << 17
    LONGEST = 64

    def __init__(self, cut: Callable[[str], Pieces]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, chunk: str) -> Pieces:
        pieces = self._cut(chunk)
        if len(chunk) <= self.LONGEST:
            if len(self) >= self.ENTRIES:
                self.clear()
            self[chunk] = pieces
        return pieces


def place_pieces(text: str, chunks: Iterable[str], pieces: Iterable[Pieces], *, shift: int = 0) -> Tokens:
    """The pieces of each chunk of `text` as tokens, their starts moved by `shift`."""
    words: list[str] = []
    starts: list[int] = []
    end = 0
    for chunk, parts in zip(chunks, pieces, strict=True):
        start = text.index(chunk, end)
        end = start + len(chunk)
        start += shift
        for part in parts:
            words.append(part)
            starts.append(start)
            start += len(part)
    return Tokens(words, starts, [0] if words else [])


def join_sentences(sentences: Iterable[Tokens]) -> Tokens:
    """The tokens of a text from those of its sentences, whose starts count from the beginning of the text."""
    words: list[str] = []
    starts: list[int] = []
    sentence_starts: list[int] = []
    for sentence in sentences:
        if sentence.words:
            sentence_starts.append(len(words))
            words += sentence.words
            starts += sentence.starts
    return Tokens(words, starts, sentence_starts)
