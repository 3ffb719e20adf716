"""Penn Treebank tokens for English ("do n't", "$ 5", "( a )"), by NLTK's rules, made fast.

NLTK's `NLTKWordTokenizer` runs some thirty substitutions over a whole string (`treebank_rules`). All but one look no
further than the white space around a chunk, so a chunk is cut once and remembered. The exception is the sentence-final
period: it is split off only at the end of the string (`final_period`). Chunks of a plain shape (letters and digits, a
mark or two around them) are cut here without them; tests hold every path equal to NLTK's result on the whole string.

Where this differs from NLTK, on purpose:
- Tokens keep their characters: `"` stays `"` where NLTK writes `` or '', so that offsets hold. `(` stays `(`.
- An apostrophe is read as `'` whatever character it is (`apostrophes`): NLTK cuts `didn't` into two and `didn’t` into
  three. The token has `'` too, because that is the spelling that models have seen beside its word.
- All white space is alike, and the end of the text is as good as a space. NLTK looks for the space character here and
  for any white space there, so that it cuts `it's'` differently before a space, before a tab and at the end.
- A chunk of more than LONGEST_CHUNK characters that is not plain is cut into stretches of that length first, where NLTK
  gives up (TimeoutError).
"""

import re
from itertools import chain

from elmo.text.apostrophes import straighten_english
from elmo.text.tokens import Pieces, PiecesCache, Tokens, place_pieces
from elmo.text.treebank_rules import cut_by_rules

LONGEST_CHUNK = 100_000

# All that `str.split()` splits at.
_WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# What may stand between the last period and the end of the sentence. [nltk destructive.py, PUNCTUATION, first rule]
_CLOSING = "])}>\"'»”’" + _WHITE_SPACE
# A quotation mark after white space opens, it does not close. [nltk destructive.py, STARTING_QUOTES, fourth rule]
_OPENING_QUOTE = re.compile(r"\s(?:\"|'')")

# Something that no NLTK rule cuts, perhaps after a quotation mark or bracket, perhaps with 's, perhaps with one or two
# marks after it. All the places between are cut, except before a period when the sentence goes on.
_PLAIN = re.compile(
    r"""([("]?)
        ( \.? WHOLE++ (?: (?: \. | [:,](?=[0-9]) ) WHOLE++ )*+ )
        ((?:'[sS])?)
        ((?!\.\.)[.,:;?!)"]{0,2})""".replace("WHOLE", r"""[^`'"«»“”‘’„:,;@\#$%&\u2012-\u2015?!*()\[\]{}<>.]"""),
    re.VERBOSE,
)
# What is cut although it looks plain. [nltk destructive.py, DOUBLE_DASHES and MacIntyreContractions]
_NOT_PLAIN = re.compile(r"(?i)--|\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")


def tokenize(text: str, *, shift: int = 0) -> Tokens:
    """The tokens of one sentence, their starts moved by `shift`."""
    text = straighten_english(text)
    chunks = text.split()
    return place_pieces(text, chunks, _cut(text, chunks), shift=shift)


def words(text: str) -> list[str]:
    """The tokens of one sentence without their places, which take a third of the time."""
    text = straighten_english(text)
    return list(chain.from_iterable(_cut(text, text.split())))


def _cut(text: str, chunks: list[str]) -> list[Pieces]:
    """The pieces of each chunk of a sentence."""
    pieces = list(map(_INSIDE.__getitem__, chunks))
    period = final_period(text)
    if period >= 0:
        i = -len(text[period:].split())
        pieces[i] = _AT_END[chunks[i]]
    return pieces


def final_period(text: str) -> int:
    """Where the period is that ends the sentence, or -1. Only closing marks and white space may follow it."""
    period = len(text.rstrip(_CLOSING)) - 1
    if period < 1 or text[period] != "." or text[period - 1] == "." or _OPENING_QUOTE.search(text, period + 1):
        return -1
    return period


def cut_inside(chunk: str) -> Pieces:
    """The pieces of a chunk that does not hold the final period."""
    return _cut_plain(chunk, at_end=False) or _cut_by_rules(chunk, at_end=False)


def cut_at_end(chunk: str) -> Pieces:
    """The pieces of the chunk that holds the final period."""
    return _cut_plain(chunk, at_end=True) or _cut_by_rules(chunk, at_end=True)


def _cut_plain(chunk: str, *, at_end: bool) -> Pieces:
    """The pieces of a plain chunk, none for another."""
    plain = _PLAIN.fullmatch(chunk)
    if plain is None or _NOT_PLAIN.search(chunk):
        return ()
    opening, word, possessive, marks = plain.groups()
    if not at_end and marks.startswith("."):
        # "Mr." stays whole, and so does "it's.", because NLTK looks for 's before a space.
        word, possessive, marks = f"{word}{possessive}.", "", marks[1:]
    return tuple(filter(None, (opening, word, possessive, *marks)))


def _cut_by_rules(chunk: str, *, at_end: bool) -> Pieces:
    pieces: list[str] = []
    for start in range(0, len(chunk), LONGEST_CHUNK):
        stretch = chunk[start : start + LONGEST_CHUNK]
        last = start + LONGEST_CHUNK >= len(chunk)
        # Neighbours, because the rules treat the beginning and the end of a string as special places.
        tokens = cut_by_rules(f"x {stretch} ")[1:] if at_end and last else cut_by_rules(f"x {stretch} x")[1:-1]
        pieces += _as_written(tokens, stretch)
    return tuple(pieces)


def _as_written(tokens: list[str], chunk: str) -> list[str]:
    """The rules' tokens with the quotation marks that the text has."""
    written = []
    start = 0
    for token in tokens:
        end = start + len(token)
        if token in ("``", "''") and chunk[start] == '"':
            end = start + 1
        written.append(chunk[start:end])
        start = end
    return written


_INSIDE = PiecesCache(cut_inside)
_AT_END = PiecesCache(cut_at_end)
