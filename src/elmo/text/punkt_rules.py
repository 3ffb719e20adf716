"""Punkt's decision (Kiss and Strunk 2006, section 4) about a word with a period and what follows it, in English.

With our lists instead of a trained model: abbreviations, words that stand before numbers, and words that often begin a
sentence. The code is our own, so that sentences do not change with NLTK's version; tests hold it equal. [nltk punkt.py]
The patterns are after NLTK's, and changed: Copyright (C) NLTK Project, Apache License 2.0 (NOTICE).
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from elmo.text.abbreviations import ENGLISH, ENGLISH_BEFORE_NUMBERS, ENGLISH_STARTERS

_SEVERAL = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_NO_WORD = r"""[)";}\]*:@'({\[‘’“”«»?!]"""
_TOKEN = rf"""{_SEVERAL}
    | [^("`{{\[:;&\#*@)}}\]\-,\s] \S*? (?= \s | \Z | {_NO_WORD} | {_SEVERAL} | ,(?=\Z|\s|{_NO_WORD}|{_SEVERAL}) )
    | \S"""
_ELLIPSIS = re.compile(r"\.\.+")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_ENDS = frozenset(".?!")
_NO_BEGINNING = frozenset(";:,.!?")
NUMBER = "##number##"


class _Patterns(NamedTuple):
    token: Any
    initial: Any
    dotted_letters: Any


@lru_cache(maxsize=2)
def _patterns(plain: bool) -> _Patterns:
    """By `regex`, as NLTK's are, where letters may have combining marks, which to `re` are none."""
    engine: Any = re
    if not plain:
        import regex as engine  # here, since most texts never need it
    return _Patterns(
        engine.compile(_TOKEN, engine.VERBOSE),
        engine.compile(r"[^\W\d]\."),
        engine.compile(r"[^\W\d](?:\.[^\W\d])+"),
    )


def contains_end(text: str) -> bool:
    """Whether a sentence ends in a text before its last token."""
    tokens: list[str] = _patterns(text.isascii()).token.findall(text)
    return any(_ends(token, following) for token, following in pairwise(tokens))


def is_abbreviation(word: str) -> bool:
    """Whether a word in lower case, without its period, is listed or dotted letters: "mr", "u.s", "j.r.r"."""
    return word in ENGLISH or _patterns(word.isascii()).dotted_letters.fullmatch(word) is not None


def _ends(token: str, following: str) -> bool:
    """Whether a token ends a sentence, before another."""
    ends, abbreviation = _by_itself(token)
    if not token.endswith("."):
        return ends
    kind, next_kind = _without_period(_kind(token)), _kind(following)
    if _by_itself(following)[0]:
        next_kind = _without_period(next_kind)
    if kind in ENGLISH_BEFORE_NUMBERS and next_kind == NUMBER:
        return False
    initial = _patterns(token.isascii()).initial.fullmatch(token) is not None
    begins = _begins(following, next_kind)
    if (abbreviation or _ELLIPSIS.fullmatch(token)) and not initial and begins:
        ends = True
    if (initial or kind == NUMBER) and begins is False:
        return False
    # "J. Bach": nothing is known of the word, but that it is capitalized.
    if initial and begins is None and following[0].isupper() and next_kind not in ENGLISH_STARTERS:
        return False
    return ends


def _by_itself(token: str) -> tuple[bool, bool]:
    """Whether a token ends a sentence, and whether it is an abbreviation, whatever follows."""
    if token in _ENDS:
        return True, False
    if not token.endswith(".") or token.endswith(".."):
        return False, False
    word = token[:-1].lower()
    abbreviation = is_abbreviation(word) or is_abbreviation(word.split("-")[-1])
    return not abbreviation, abbreviation


def _begins(token: str, kind: str) -> bool | None:
    """Whether a token begins a sentence; None where that is not known."""
    if token in _NO_BEGINNING:
        return False
    if token[0].isupper() and kind in ENGLISH_STARTERS:
        return True
    return False if token[0].islower() else None


def _kind(token: str) -> str:
    lower = token.lower()
    return NUMBER if _NUMBER.fullmatch(lower) else lower


def _without_period(kind: str) -> str:
    return kind[:-1] if len(kind) > 1 and kind.endswith(".") else kind
