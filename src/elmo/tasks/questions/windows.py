"""A long text as tokens and as overlapping windows, cut at sentences; every token is the business of one window.

A network that attends keeps a number for each two tokens: a text of 10,000 would need a hundred million of them.
"""

import re
from bisect import bisect_left
from itertools import accumulate, pairwise
from typing import NamedTuple

from elmo.tasks.examples import Text
from elmo.text.tokenizer import Tokenizer

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")  # an empty line ends the sentence before it, with a period or without


class Window(NamedTuple):
    """Some sentences of a text, and which of its tokens an answer may begin at: those far enough from its edges."""

    sentences: tuple[int, int]  # first, and the one after the last
    tokens: tuple[int, int]
    own: tuple[int, int]  # tokens, counted in the whole text


def read_long(text: str, tokenizer: Tokenizer, *, longest: int) -> tuple[Text, list[int]]:
    """The tokens of a text by sentences, and where each stands; a sentence of more than `longest` tokens is cut."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    breaks = [(0, 0), *(match.span() for match in _PARAGRAPH_END.finditer(text)), (len(text), len(text))]
    for (_, begin), (end, _) in pairwise(breaks):
        for sentence in tokenizer.sentences(text[begin:end]):
            first = len(words)
            words += sentence.words
            starts += [begin + start for start in sentence.starts]
            ends += [min(n + longest, len(words)) for n in range(first, len(words), longest)]
    return Text(tuple(words), tuple(ends)), starts


def cut_windows(text: Text, *, most: int) -> list[Window]:
    """Windows of at most `most` tokens, each beginning half of that behind the one before, or less far.

    A sentence is never longer than a window (`read_long`). Neighbours share the tokens that both have in the middle.
    """
    lengths = [end - start for start, end in pairwise((0, *text.ends))]
    starts = list(accumulate(lengths, initial=0))  # of the sentences, and the end
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        last = first + 1
        while last < len(lengths) and starts[last + 1] - starts[first] <= most:
            last += 1
        spans.append((first, last))
        if last >= len(lengths):
            break
        half = bisect_left(starts, starts[first] + most // 2)
        following = min(max(half, first + 1), last)
        # Not one that would end where this one ends: it has to hold the next sentence.
        while following < last and starts[last + 1] - starts[following] > most:
            following += 1
        first = following
    tokens = [(starts[first], starts[last]) for first, last in spans]
    borders = [0, *((right[0] + left[1]) // 2 for left, right in pairwise(tokens)), len(text)]
    return [Window(*parts) for parts in zip(spans, tokens, pairwise(borders), strict=True)]
