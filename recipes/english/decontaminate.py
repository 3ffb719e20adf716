"""Leaves out lines that share twelve words in a row with test sets.

    python -m recipes.english.decontaminate --tests ptb.txt wikitext.txt ... --into clean text1.txt text2.txt ...

Words are runs of letters and digits, without regard to capitals, so another tokenization hides nothing. A run may go on
over the end of a line in the test sets, but not in the text, of which whole lines are left out.

Of a line only every seventh piece of six words is looked up at first: wherever twelve words in a row stand, one of
these pieces lies within them. The runs themselves are compared in the few lines that have a piece of a test set.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from elmo.disk.writing import write_file

RUN = 12
PIECE = 6
STEP = RUN - PIECE + 1  # the widest that leaves no run without a whole piece
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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True, help="the folder of the cleaned texts")
    given = parser.parse_args(arguments)
    targets = [given.into / path.name for path in given.texts]
    if len(set(targets)) < len(targets) or any(target.exists() for target in targets):
        parser.error(f"{given.into}: has files of these names, or two texts have one name; nothing is written over")
    known = Known(path.read_text("utf-8") for path in given.tests)
    print(f"{len(known.runs):,} runs of {RUN} words in {len(given.tests)} test sets")
    given.into.mkdir(parents=True, exist_ok=True)
    for path, target in zip(given.texts, targets, strict=True):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not known.shares(line)]
        write_file(target, "".join(kept).encode("utf-8"))
        print(f"{path.name}: {len(lines) - len(kept):,} of {len(lines):,} lines left out", flush=True)


if __name__ == "__main__":
    main()
