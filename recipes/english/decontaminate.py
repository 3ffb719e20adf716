"""Leaves out lines that share twelve words in a row with test sets.

    python -m recipes.english.decontaminate --tests ptb.txt wikitext.txt ... --into clean text1.txt text2.txt ...

Words are runs of letters and digits, without regard to capitals, so another tokenization hides nothing. A run may go on
over the end of a line in the test sets, but not in the text, of which whole lines are left out. A document that shares
a run in a fifth of its lines, and in two at least, is left out whole: it is the article that a test set is from.

Of a line only every seventh piece of six words is looked up at first: wherever twelve words in a row stand, one of
these pieces lies within them. The runs themselves are compared in the few lines that have a piece of a test set.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from recipes.english.documents import read_documents, targets_in, write_documents

RUN = 12
PIECE = 6
STEP = RUN - PIECE + 1  # the widest that leaves no run without a whole piece
SAME_DOCUMENT = 0.2  # of the lines
WORD = re.compile(r"[^\W_]+")


def words_of(line: str) -> list[str]:
    """The words of a line, in small letters."""
    return WORD.findall(line.lower())


def hashes(words: list[str], length: int, step: int = 1) -> Iterator[int]:
    """A hash of every `length` words in a row, or of every `step`th of them."""
    for start in range(0, len(words) - length + 1, step):
        yield hash(tuple(words[start : start + length]))


class Known:
    """The runs of some texts, each text taken as a whole."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.runs: set[int] = set()
        self.pieces: set[int] = set()
        for text in texts:
            words = words_of(text)
            self.runs.update(hashes(words, RUN))
            self.pieces.update(hashes(words, PIECE))

    def shares(self, line: str) -> bool:
        """Whether a line has one of the runs."""
        words = words_of(line)
        if self.pieces.isdisjoint(hashes(words, PIECE, STEP)):
            return False
        return not self.runs.isdisjoint(hashes(words, RUN))


def clean_documents(path: Path, known: Known, counts: Counter[str]) -> Iterator[list[str]]:
    """The documents of a text without what they share with the test sets."""
    for document in read_documents(path):
        kept = [line for line in document if not known.shares(line)]
        shared = len(document) - len(kept)
        counts["lines"] += len(document)
        counts["lines that share a run"] += shared
        if shared >= max(2, SAME_DOCUMENT * len(document)):
            counts["lines of left out documents"] += len(kept)
            counts["left out documents"] += 1
        else:
            yield kept


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True, help="the folder of the cleaned texts")
    given = parser.parse_args(arguments)
    targets = targets_in(given.into, given.texts)
    known = Known(path.read_text("utf-8") for path in given.tests)
    print(f"{len(known.runs):,} runs of {RUN} words in {len(given.tests)} test sets")
    for path, target in zip(given.texts, targets, strict=True):
        counts: Counter[str] = Counter()
        write_documents(target, clean_documents(path, known, counts))
        left_out = counts["lines that share a run"] + counts["lines of left out documents"]
        print(
            f"{path.name}: {left_out:,} of {counts['lines']:,} lines left out, "
            f"{counts['left out documents']:,} documents whole",
            flush=True,
        )


if __name__ == "__main__":
    main()
