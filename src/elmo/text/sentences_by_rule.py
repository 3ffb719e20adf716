"""Sentences of languages other than English: a rule for all scripts, without data apart from a few abbreviations.

Marks that only end sentences (ideographic full stop, danda, Arabic question mark, ...) end them anywhere. Full stops,
`?`, `!` and `…` end them before white space, unless a lower-case letter follows; a full stop does not after an initial,
dotted letters, a known abbreviation, or a number of one or two digits, which many languages read as an ordinal
("am 3. Mai"). Closing quotation marks and brackets stay with their sentence. Expects text whose only white space is the
space, with none at its ends.
"""

import re

from elmo.text.abbreviations import OTHERS

Span = tuple[int, int]

# Unicode's sentence terminals (property STerm) in wide use: Chinese and Japanese, Arabic and Urdu, Indic, Armenian,
# Burmese, Khmer, Ethiopic, Mongolian.
_ALWAYS = "。｡！？﹒﹖﹗؟۔।॥։။។៕።፧፨᠃᠉"
_BEFORE_SPACE = ".?!…‼⁇⁈⁉"
# “ and « close in German, where they stand right after the mark.
_CLOSING = "\"')\\]}’”“»«›‹」』】）〕〉》］｝｣"

# Possessive repeats and a look behind, so that a run of a million dots takes linear time. A French » has a space before
# it; a German » that opens has none after it.
_END = re.compile(
    rf"""
    (?: [{_ALWAYS}] | ．(?![0-9０-９]) ) [{_ALWAYS}．{_BEFORE_SPACE}]*+ [{_CLOSING}]*+
    |
    (?<![{_BEFORE_SPACE}]) [{_BEFORE_SPACE}]++ [{_CLOSING}]*+ (?: \ »(?=\ ) )? (?=\ )
    """,
    re.VERBOSE,
)
_BEGINNING = re.compile(r"[ \"'(\[{¿¡‘’“”„«»‹›—–-]*(.?)", re.DOTALL)
_NO_BEGINNING = frozenset(".?!…,;:")
_DOTTED_LETTERS = re.compile(r"[^\W\d]+(?:\.[^\W\d]+)+")

# Longer words than this are no abbreviations.
_LONGEST = 64


def split(text: str, code: str) -> list[Span]:
    """The sentences of a paragraph, as (start, end); `code` is the language's, without a region."""
    abbreviations = OTHERS.get(code, frozenset())
    spans = []
    start = 0
    for end in _END.finditer(text):
        if end.start() < start or not _is_end(text, end, abbreviations):
            continue
        spans.append((start, end.end()))
        start = end.end()
        while start < len(text) and text[start] == " ":
            start += 1
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _is_end(text: str, end: re.Match[str], abbreviations: frozenset[str]) -> bool:
    marks = end.group()
    if marks[0] not in _BEFORE_SPACE:
        return True
    beginning = _BEGINNING.match(text, end.end())
    assert beginning is not None  # the pattern matches the empty string
    if beginning[1].islower() or beginning[1] in _NO_BEGINNING:
        return False
    if marks[0] != "." or marks.startswith(".."):
        return True
    before = text[max(0, end.start() - _LONGEST) : end.start()]
    word = before[before.rfind(" ") + 1 :].lstrip("\"'([{¿¡‘“„«»‹›").lower()
    if word.isdecimal():
        return len(word) > 2
    if len(word) == 1 and word.isalpha():
        return False
    return word not in abbreviations and _DOTTED_LETTERS.fullmatch(word) is None
