"""Words by Unicode's own rule (UAX #29), for languages without a rule of their own here.

The boundaries are those of the `regex` module: letters with their combining marks and inner apostrophes stay together
("l'homme", "3.14"), every punctuation mark is a token, ideographs and kana other than katakana stand one by one, a flag
or a joined emoji is one token. An apostrophe inside a word becomes `'` (`apostrophes`). White space is dropped, and so
is the zero-width space, which only separates words.
"""

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from elmo.text.apostrophes import straighten_inner
from elmo.text.tokens import Pieces, PiecesCache, Tokens, place_pieces

if TYPE_CHECKING:
    import regex

ZERO_WIDTH_SPACE = "\u200b"

# `regex` counts back over the flag letters before each boundary, which takes quadratic time in a long run of them.
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
MOST_FLAG_LETTERS = 1000


def tokenize(text: str, *, shift: int = 0) -> Tokens:
    """The words and marks of `text`, their starts moved by `shift`."""
    text = _prepared(text)
    chunks = text.split()
    return place_pieces(text, chunks, map(_CACHE.__getitem__, chunks), shift=shift)


def words(text: str) -> list[str]:
    """The same without their places."""
    return list(chain.from_iterable(map(_CACHE.__getitem__, _prepared(text).split())))


def _prepared(text: str) -> str:
    """The same places, other characters: what only separates words is a space, an apostrophe is `'`."""
    return straighten_inner(text.replace(ZERO_WIDTH_SPACE, " "))


def cut(chunk: str) -> Pieces:
    """The words and marks of one chunk."""
    if chunk.isascii() and chunk.isalnum():
        return (chunk,)
    if len(chunk) > MOST_FLAG_LETTERS and len(_FLAG_LETTER.findall(chunk)) > MOST_FLAG_LETTERS:
        stretches = (chunk[i : i + MOST_FLAG_LETTERS] for i in range(0, len(chunk), MOST_FLAG_LETTERS))
        return tuple(piece for stretch in stretches for piece in _cut_at_boundaries(stretch))
    return _cut_at_boundaries(chunk)


def _cut_at_boundaries(chunk: str) -> Pieces:
    # After a space, because `regex` joins a combining mark at the very beginning to what follows it.
    return tuple(filter(None, (piece.lstrip() for piece in _boundary().split(f" {chunk}"))))


@cache
def _boundary() -> "regex.Pattern[str]":
    import regex  # imported at need: English models do without

    return regex.compile(r"\b", flags=regex.WORD | regex.VERSION1)


_CACHE = PiecesCache(cut)
