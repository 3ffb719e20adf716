"""The Penn Treebank's rules for one chunk, as NLTK's `NLTKWordTokenizer` has them: substitutions in their order.

The code is our own, so that tokens, and with them vectors, do not change with NLTK's version, and that nobody waits
half a second for it; tests hold the result equal to NLTK's. [nltk destructive.py] The patterns are after NLTK's, and
changed: Copyright (C) NLTK Project, Apache License 2.0 (NOTICE).
"""

import re
from functools import lru_cache
from typing import Any

_PAD = r" \g<0> "
_APART = r"\1 \2 "

# Each with the characters around it as it finds them, so that the order counts.
_MARKS: list[tuple[str, str]] = [
    (r"[«“‘„]|`+", _PAD),
    ("``", _PAD),
    (r"([ (\[{<])(?:\"|'')", r"\1 `` "),  # opens, behind a space or a bracket
    (r"(?i)(?<!\w)'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)", "' "),
    (r"([^.])\.([\])}>\"' »”’]*+)\Z", r"\1 . \2 "),  # the final period
    (r"([:,])(\D)", r" \1 \2"),
    (r"\.{2,}", _PAD),
    (r"[;@#$%&\u2012-\u2015]", _PAD),
    (r"[?!]", _PAD),
    (r"([^'])' ", r"\1 ' "),
    (r"[*\[\](){}<>]", _PAD),
    (r"--", _PAD),
]
_ENDINGS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"[»”’]|''"), _PAD),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^' ])('[sSmMdD]?) "), _APART),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), _APART),
    (re.compile(r"(?i)\b(can)(not)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(d)('ye)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gim|lem)(me)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gon)(na)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(got)(ta)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(more)('n)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(wan)(na)(?=\s)"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(is)\b"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(was)\b"), r" \1 \2 "),
]


@lru_cache(maxsize=2)
def _marks(plain: bool) -> list[tuple[Any, str]]:
    """The rules compiled: by `regex`, as NLTK's are, where letters may have combining marks, which to `re` are none."""
    if plain:
        return [(re.compile(pattern), replacement) for pattern, replacement in _MARKS]
    import regex  # here, since most texts never need it

    return [(regex.compile(pattern), replacement) for pattern, replacement in _MARKS]


def cut_by_rules(text: str) -> list[str]:
    """The tokens of a text that begins with a word and ends with a word or a space; quotes become `` and ''."""
    for mark, replacement in _marks(text.isascii()):
        text = mark.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _ENDINGS:
        text = pattern.sub(replacement, text)
    return text.split()
