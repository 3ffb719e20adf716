"""English sentences, as NLTK's Punkt (Kiss and Strunk 2006) finds them, with our own lists instead of a trained model.

Punkt looks at each word before a period and at the token after it. Here the clear cases are decided at once (a word
that is no abbreviation ends its sentence, and so does every `?` and `!`), and the rest by its rules (`punkt_rules`):
initials, numbers, abbreviations, ellipses. Tests hold the result equal to NLTK's on the whole text, followed by one
repair that Punkt lacks (`goes_on`). Expects text whose only white space is the space, with none at its ends.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from elmo.text.abbreviations import ENGLISH, ENGLISH_BEFORE_NUMBERS
from elmo.text.punkt_rules import contains_end

Span = tuple[int, int]

# A possible end, with what follows it: a mark that is no part of a word, or a space and the next token.
# [nltk punkt.py, PunktLanguageVars._period_context_fmt]
_CANDIDATE = re.compile(r"""[.?!](?=([)";}\]*:@'({\[‘’“”«»?!])| +([^ ]+))""")
# Closing marks that belong to the sentence before. [nltk punkt.py, PunktLanguageVars.re_boundary_realignment]
_CLOSING = re.compile(r"""["')\]}‘’“”«»]+?(?: +|(?=--)|\Z)""")
_BEFORE_LOWER_CASE = frozenset("?!\"')]}’”»")
_NO_BEGINNING = frozenset(".?!,;:")

_KNOWN = ENGLISH | ENGLISH_BEFORE_NUMBERS

# Longer words and tokens than this are no abbreviations, whatever their beginning.
_LONGEST = 64


def split(text: str) -> list[Span]:
    """The sentences of a paragraph, as (start, end)."""
    return list(join(text, _realigned(text, _slices(text))))


def join(text: str, spans: Iterator[Span]) -> Iterator[Span]:
    """The spans, with those put together that are one sentence."""
    start, end = next(spans, (0, 0))
    for following, following_end in spans:
        if not goes_on(text, end, following):
            yield start, end
            start = following
        end = following_end
    if end > start:
        yield start, end


def goes_on(text: str, end: int, following: int) -> bool:
    """Whether a sentence cut at `end` goes on at `following`: `"Where to?" he asked`, `Oh! how nice`, `well . . .`."""
    return text[following] in _NO_BEGINNING or (text[end - 1] in _BEFORE_LOWER_CASE and text[following].islower())


def _slices(text: str) -> Iterator[Span]:
    start = 0
    for word_start, candidate in _candidates(text):
        at = candidate.start()
        mark, token = candidate.groups()
        if _is_end(text[max(word_start, at - _LONGEST) : at], text[at], mark or f" {token[:_LONGEST]}"):
            yield start, at + 1
            start = candidate.start(2) if token else at + 1
    yield start, len(text)


def _candidates(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The last candidate of each chunk that has one, and one that begins its chunk, with the start of the chunk."""
    last = None
    word_start = seen = 0
    for candidate in _CANDIDATE.finditer(text):
        space = text.rfind(" ", seen, candidate.start())
        if last is not None and (space >= 0 or seen == word_start):
            yield word_start, last
        if space >= 0:
            word_start = space + 1
        last = candidate
        seen = candidate.start()
    if last is not None:
        yield word_start, last


def _is_end(word: str, mark: str, after: str) -> bool:
    if mark != ".":
        return True
    if len(word) > 1 and word.isalpha() and word.lower() not in _KNOWN:
        return True
    return _punkt_finds_end(f"{word}.{after}")


def _realigned(text: str, slices: Iterator[Span]) -> Iterator[Span]:
    """The slices, with closing marks moved from the beginning of one to the end of the one before."""
    start, end = next(slices)
    for following, following_end in slices:
        closing = _CLOSING.match(text, following, following_end)
        if closing:
            yield start, following + len(closing.group().rstrip())
            following = closing.end()
        elif start < end:
            yield start, end
        start, end = following, following_end
    if start < end:
        yield start, end


@lru_cache(maxsize=1 << 14)
def _punkt_finds_end(context: str) -> bool:
    return contains_end(context)
