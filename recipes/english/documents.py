"""Texts as documents: their lines up to an empty one. What has no empty lines comes in pieces."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from elmo.disk.writing import write_atomically

LONGEST = 200  # lines; so that a text without empty lines has documents too, and memory is bounded


def read_documents(path: Path) -> Iterator[list[str]]:
    """The lines of each document, without their ends."""
    lines: list[str] = []
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            if text := line.strip():
                lines.append(text)
            if lines and (not text or len(lines) == LONGEST):
                yield lines
                lines = []
    if lines:
        yield lines


def write_documents(path: Path, documents: Iterable[list[str]]) -> None:
    """A line each, an empty one after each document; the file is there whole or not at all."""
    with write_atomically(path) as file:
        for lines in documents:
            if lines:
                file.write(("\n".join(lines) + "\n\n").encode("utf-8"))


def words_in(lines: Iterable[str]) -> int:
    """The words between white space."""
    return sum(len(line.split()) for line in lines)


def targets_in(folder: Path, texts: Iterable[Path]) -> list[Path]:
    """Where the texts go in another folder. Nothing is written over, and no two have one name."""
    targets = [folder / path.name for path in texts]
    taken = [target for target in targets if target.exists() or targets.count(target) > 1]
    if taken:
        raise SystemExit(f"{taken[0]}: is there already, or two texts have this name; nothing is written over")
    folder.mkdir(parents=True, exist_ok=True)
    return targets
