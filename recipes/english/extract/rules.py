"""Which lines are English text: the rules that each line must pass, and the name of the first one that it fails."""

import re
from typing import Literal

Fault = Literal["short", "long word", "letters", "ASCII", "common words", "marks, addresses"]

FEWEST_WORDS = 5
LONGEST_WORD = 45
LETTERS = 0.75  # of what is shown
ASCII = 0.93  # of the characters, with the marks below
COMMON = 0.15  # of the words of a line that has eight or more; of a shorter one a single word
MANY_WORDS = 8

_AS_ASCII = str.maketrans(dict.fromkeys("‘’“”–—…", "'"))
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_WORD = re.compile(r"[a-z]+")
_MARKS = re.compile(r"https?:|www\.|\.(?:com|org|net|gov|edu|html?)\b|\w@\w|[{}<>\\|]|\[\[|\]\]|===|___")

# The most frequent words of English text: function words, and no name or topic of any of the sources.
COMMON_WORDS = frozenset(
    """the of and to in a is that was for it he on with as his be at by i this had not are but from or have an they
    which one you were all her she there would their we him been has when who will no more if out so up said what its
    about than into them can only other time new some could these two may first then do any like my now over such our
    man me even most after also did many off before must well back through years much where your way down should
    because long each just those people""".split()  # noqa: SIM905 - a hundred lines else
)


def _common(words: list[str]) -> int:
    return sum(map(COMMON_WORDS.__contains__, words))


def fault(line: str) -> Fault | None:
    """The first rule that a line fails, or None. The line is tidy: one line, single spaces."""
    words = line.split(" ")
    if len(words) < FEWEST_WORDS:
        return "short"
    if max(map(len, words)) > LONGEST_WORD:
        return "long word"
    plain = line.translate(_AS_ASCII)
    ascii_only = plain.encode("ascii", "ignore")
    letters = len(ascii_only.translate(None, _NO_LETTERS))
    if len(ascii_only) < len(plain):
        letters += sum(mark.isalpha() for mark in plain if mark > "\x7f")
    if letters < LETTERS * (len(line) - len(words) + 1):
        return "letters"
    if len(ascii_only) < ASCII * len(line):
        return "ASCII"
    enough = COMMON * len(words) if len(words) >= MANY_WORDS else 1
    plain = plain.lower()
    # Most lines have enough words that stand free; only in the others are the marks at their words looked away from.
    if _common(plain.split(" ")) < enough and _common(_WORD.findall(plain)) < enough:
        return "common words"
    if _MARKS.search(line):
        return "marks, addresses"
    return None
