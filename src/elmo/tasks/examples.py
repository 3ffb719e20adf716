"""`Example`: what every reader gives and every task learns from or answers; `Raw`, the text as its user wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

Text = tuple[str, ...]  # the tokens of one sentence


@dataclass(frozen=True)
class Raw:
    """A line of a file as it is written, and where in it the tokens of an example begin."""

    line: int  # from 1
    text: str
    starts: tuple[int, ...]

    @classmethod
    def joined(cls, line: int, words: Sequence[str]) -> "Raw":
        """Tokens that come without a text: as if written with a blank between each two."""
        return cls(line, " ".join(words), tuple(accumulate((len(word) + 1 for word in words[:-1]), initial=0)))


@dataclass(frozen=True)
class Example:
    """One or more texts and the answer wanted for them (None where there is none), with the place they come from.

    `raw`: the first text as it was written; several sentences of one line have the same line and text there.
    """

    texts: tuple[Text, ...]
    answer: Any = None
    place: str = "example"
    raw: Raw | None = None
