"""Hard-wrapped text: whether the lines of a text are cut at a width, and the paragraphs that such lines make.

Books of Project Gutenberg and mails break their lines at some 70 characters, wherever that is in a sentence. The
breaks are known by what wrapping is: a line ends because the first word of the next would not have fitted. Verse, lists
and text with one sentence a line do not fill their lines like that.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles
from typing import Literal

Lines = Literal["auto", "wrapped", "whole"]  # wrapped: joined into paragraphs; whole: each one as it is; auto: find out

SAMPLE_LINES = 4000  # so many lines, or so many characters, say how the lines of a text are
SAMPLE_CHARACTERS = 1 << 20

# Chosen with benchmarks/text/wrapping.py; docs/train-your-language.md has what it found.
FEWEST_OPEN = 10  # breaks inside sentences that a decision needs
NARROWEST, WIDEST = 30, 200
OPEN = 0.25
NEARLY = 0.92  # of the width, because not every line is wrapped by a program
FULL, FULL_WITHOUT_CASE = 0.8, 0.9
CASED, LOWER = 0.5, 0.5
SHORT = 0.7  # of the width: a line that ends there was meant to end
# A paragraph that never ends is cut after a sentence, so that memory is bounded.
LONG_PARAGRAPH, LONGEST_PARAGRAPH = 1 << 16, 1 << 20

_FINISHED = re.compile(r"[.?!…:;。！？؟۔।॥։።][\"'”’»«›)\]}*_]*$")
_FIRST_LETTER = re.compile(r"^[\W_]*([^\W\d_])?")
_HYPHEN = re.compile(r"[^\W\d_][-‐]$")
_SOFT_HYPHEN = "\u00ad"
# After a hyphen these go on with a second word, not with the rest of the first: "Ein- und Ausgang", "pre- and post-".
_CONJUNCTIONS = frozenset(
    "and or to nor und oder bis sowie et ou y o e ed en of och eller og i a nebo lub oraz и или та".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class LineBreaks:
    """What is known of the line ends between two lines with text.

    An *open* break stands inside a sentence, as far as can be seen: no mark that ends a sentence or a clause is before
    it. Wrapping explains it if it is *full*: the first word of the next line would not have fitted.
    """

    count: int
    width: int  # what nearly all lines with an open break keep to, in characters
    open: float  # the share of the breaks
    full: float  # of the open ones
    cased: float  # of the open ones: the next line begins with a letter that is of lower or upper case
    lower: float  # of those: it is of lower case

    @property
    def wrapped(self) -> bool:
        """Whether lines end where the width is reached rather than where the writer ended them."""
        if self.count * self.open < FEWEST_OPEN or not NARROWEST <= self.width <= WIDEST or self.open < OPEN:
            return False
        if self.cased < CASED:
            return self.full >= FULL_WITHOUT_CASE
        return self.full >= FULL and self.lower >= LOWER


def study_breaks(lines: Iterable[str]) -> LineBreaks:
    """Look at the line ends of a text."""
    breaks = [(a.rstrip(), b.strip()) for a, b in pairwise(lines) if a.strip() and b.strip()]
    inside = [(a, b) for a, b in breaks if _FINISHED.search(a) is None]
    if len(inside) < 2:
        return LineBreaks(len(breaks), 0, 0.0, 0.0, 0.0, 0.0)
    width = round(quantiles((len(a) for a, _ in inside), n=20)[-1])
    first_letters = [match[1] for _, b in inside if (match := _FIRST_LETTER.match(b)) and match[1]]
    cased = [letter for letter in first_letters if letter.lower() != letter.upper()]
    return LineBreaks(
        count=len(breaks),
        width=width,
        open=len(inside) / len(breaks),
        full=_fraction(len(a) + 1 + _first_word(b) > NEARLY * width for a, b in inside),
        cased=len(cased) / len(inside),
        lower=_fraction(letter.islower() for letter in cased),
    )


def _fraction(found: Iterable[bool]) -> float:
    listed = list(found)
    return sum(listed) / max(1, len(listed))


def _first_word(line: str) -> int:
    """The length of the first word; 1 for a line without spaces, as Chinese has them."""
    return len(line.partition(" ")[0]) if " " in line else 1


def join_wrapped(lines: Iterable[tuple[int, str]], *, width: int) -> Iterator[tuple[int, str]]:
    """Paragraphs from numbered lines, each with the number of its last line; blank lines stay.

    A paragraph ends at a blank line, and behind a line that is much shorter than `width` unless the next one goes on in
    lower case. A hyphen at the end of a line is kept and nothing put behind it (`well-` and `known`: `well-known`),
    unless `and` or its like follows; a soft hyphen goes.
    """
    paragraph: list[str] = []
    size = number = 0
    ended = False  # the last line was short, or the paragraph is long enough
    for number, line in lines:
        text = line.strip()
        if paragraph and (not text or size >= LONGEST_PARAGRAPH or (ended and not _goes_on(text))):
            yield number - 1, "".join(paragraph)
            paragraph, size = [], 0
        if not text:
            yield number, ""
            continue
        if paragraph:
            _glue(paragraph, text)
        paragraph.append(text)
        size += len(text) + 1
        ended = len(line.rstrip()) < SHORT * width or (size >= LONG_PARAGRAPH and _FINISHED.search(text) is not None)
    if paragraph:
        yield number, "".join(paragraph)


def _goes_on(text: str) -> bool:
    match = _FIRST_LETTER.match(text)
    return bool(match and match[1] and match[1].islower())


def _glue(paragraph: list[str], text: str) -> None:
    """Prepare the last line of a paragraph for `text` to be put behind it."""
    last = paragraph[-1]
    if last.endswith(_SOFT_HYPHEN):
        paragraph[-1] = last[:-1]
    elif not (_HYPHEN.search(last) and text[0].islower() and text.split(maxsplit=1)[0] not in _CONJUNCTIONS):
        paragraph.append(" ")


def sample_of(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The first lines of a text: enough to study, and no more than memory bears."""
    taken: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        taken.append((number, line))
        size += len(line)
        if len(taken) >= SAMPLE_LINES or size >= SAMPLE_CHARACTERS:
            break
    return taken
