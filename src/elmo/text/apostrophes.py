"""Apostrophes that are written with another character than `'`, as `'`: one spelling for one word.

Books and web pages print `didn’t`, keyboards type `didn't`. A text in which one stands for the other keeps its length,
so places in it stay the same. Quotation marks stay what they are: `’` is one where it closes what `‘` has opened, and
after anything but a letter or a digit (`gone.’`).
"""

import re

# ’ is what books print; ʼ is Unicode's apostrophe that is a letter; ‘ is a slip of word processors.
_WRITTEN = ("’", "ʼ", "‘")
_OPENING = "‘"
_ENGLISH = re.compile(r"(?<=\w)[’ʼ‘](?=\w)|[’ʼ](?=\w)|(?P<final>(?<=\w)[’ʼ])")
_INNER = re.compile(r"(?<=[^\W\d_])’(?=[^\W\d_])")


def straighten_english(text: str) -> str:
    """The text with `'` for every apostrophe: `didn’t`, `’tis`, `the ’90s`, and `the dogs’ tails` unless a ‘ is before.

    `text` is one sentence, because a ‘ counts for the rest of it.
    """
    if text.isascii() or not any(mark in text for mark in _WRITTEN):
        return text
    opened = text.find(_OPENING)

    def straight(mark: re.Match[str]) -> str:
        return mark[0] if mark["final"] and 0 <= opened < mark.start() else "'"

    return _ENGLISH.sub(straight, text)


def straighten_inner(text: str) -> str:
    """The text with `'` for every ’ between two letters: `l’homme`, `п’ять`.

    No more than that is safe in every language: ’ opens and closes quotations in Swedish, ʼ and ‘ are letters
    elsewhere.
    """
    return text if text.isascii() or "’" not in text else _INNER.sub("'", text)
