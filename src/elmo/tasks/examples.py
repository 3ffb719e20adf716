"""`Example`: what every reader gives and every task learns from or answers; its `Text`s; `Raw`, text as written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from elmo.errors import InputError

Sentence = tuple[str, ...]  # the tokens of one: what a biLM reads at a time


@dataclass(frozen=True)
class Text:
    """Tokens, and where their sentences end: after so many tokens each, the last one after all of them.

    A biLM reads sentence by sentence. Without `ends` the text is one sentence, or none where it has no tokens.
    """

    tokens: tuple[str, ...]
    ends: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        ends = self.ends or ((len(self.tokens),) if self.tokens else ())
        if list(ends) != sorted({end for end in ends if end > 0}) or (ends[-1] if ends else 0) != len(self.tokens):
            raise InputError(
                f"sentences end at {list(ends)[:10]} in a text of {len(self.tokens)} tokens; each has a token or more, "
                "and the last ends with the text"
            )
        object.__setattr__(self, "ends", ends)

    @classmethod
    def of_sentences(cls, sentences: Iterable[Sequence[str]]) -> "Text":
        """Sentences behind each other; those without tokens are left out."""
        kept = [tuple(sentence) for sentence in sentences if sentence]
        return cls(tuple(token for sentence in kept for token in sentence), tuple(accumulate(map(len, kept))))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The tokens of each sentence."""
        return tuple(self.tokens[start:end] for start, end in pairwise((0, *self.ends)))

    def part(self, first: int, last: int) -> "Text":
        """Sentences first .. last - 1: a window of a text that is too long, whose vectors are those of the whole."""
        return Text.of_sentences(self.sentences[first:last])


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

    `raw`: the first text as it was written; several sentences of one line have the same line and text there. `given`:
    what a task knows besides the texts, as integers: the place of a predicate, the speaker of each token. `also`: other
    answers that are as right.
    """

    texts: tuple[Text, ...]
    answer: Any = None
    place: str = "example"
    raw: Raw | None = None
    given: tuple[int, ...] = ()
    also: tuple[Any, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Those of the first text."""
        return self.texts[0].tokens

    def as_written(self) -> Raw:
        """`raw`, or the tokens with blanks between them where there is none."""
        return self.raw or Raw.joined(0, self.tokens)
