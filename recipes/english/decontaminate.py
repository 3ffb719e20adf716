"""Leaves out lines that share twelve words in a row with test sets.

    python -m recipes.english.decontaminate --tests ptb.txt wikitext.txt ... --into clean text1.txt text2.txt ...

Words are runs of letters and digits, without regard to capitals, so another tokenization hides nothing. A run may go on
over the end of a line in the test sets, but not in the text, of which whole lines are left out.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from elmo.disk.writing import write_file

RUN = 12
WORD = re.compile(r"[^\W_]+")


def words_of(line: str) -> list[str]:
    """The words of a line, in small letters."""
    return WORD.findall(line.lower())


def runs(words: list[str]) -> Iterator[int]:
    """A hash of every twelve words in a row."""
    for start in range(len(words) - RUN + 1):
        yield hash(tuple(words[start : start + RUN]))


def runs_of_texts(texts: Iterable[str]) -> set[int]:
    """All runs of some texts, each taken as a whole."""
    return {run for text in texts for run in runs(words_of(text))}


def clean_lines(lines: Iterable[str], known: set[int]) -> Iterator[str]:
    """The lines without any of the known runs."""
    return (line for line in lines if known.isdisjoint(runs(words_of(line))))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True, help="the folder of the cleaned texts")
    given = parser.parse_args(arguments)
    targets = [given.into / path.name for path in given.texts]
    if len(set(targets)) < len(targets) or any(target.exists() for target in targets):
        parser.error(f"{given.into}: has files of these names, or two texts have one name; nothing is written over")
    known = runs_of_texts(path.read_text("utf-8") for path in given.tests)
    print(f"{len(known):,} runs of {RUN} words in {len(given.tests)} test sets")
    given.into.mkdir(parents=True, exist_ok=True)
    for path, target in zip(given.texts, targets, strict=True):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        kept = list(clean_lines(lines, known))
        write_file(target, "".join(kept).encode("utf-8"))
        print(f"{path.name}: {len(lines) - len(kept):,} of {len(lines):,} lines left out", flush=True)


if __name__ == "__main__":
    main()
