"""One source as plain text: a paragraph a line, an empty line between documents.

    python -m recipes.english.extract NAME ARCHIVE... --into texts
    python -m recipes.english.extract --list

An archive is a tar file, also compressed, a folder, or - for a tar file from standard input. `--list` prints the
names, and for each the addresses of the archives. Writes NAME.txt and NAME.json: what was kept, and what was left out
by which rule.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from elmo.disk.writing import write_atomically, write_file
from recipes.english.extract.archive import File, read_files
from recipes.english.extract.extractors import EXTRACTORS, Extractor
from recipes.english.extract.rules import fault
from recipes.english.extract.tidy import tidy


def chosen_lines(document: Iterable[str], *, fewest_words: int, counts: Counter[str]) -> list[str]:
    """The lines of a document that are English text, counted; none if they have too few words together."""
    lines = []
    for paragraph in document:
        line = tidy(paragraph)
        if not line:
            continue
        counts["lines"] += 1
        found = fault(line)
        if found is None:
            lines.append(line)
        else:
            counts[found] += 1
    if sum(line.count(" ") + 1 for line in lines) < fewest_words:
        counts["short document"] += len(lines)
        return []
    return lines


def write_text(documents: Iterable[list[str]], file: BinaryIO, *, fewest_words: int) -> dict[str, int | str]:
    """What was kept and what was left out; the text goes into `file`."""
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    for document in documents:
        lines = chosen_lines(document, fewest_words=fewest_words, counts=counts)
        if lines:
            text = ("\n".join(lines) + "\n\n").encode("utf-8")
            file.write(text)
            digest.update(text)
            counts["documents kept"] += 1
            counts["lines kept"] += len(lines)
            counts["words kept"] += sum(line.count(" ") + 1 for line in lines)
    return {**counts, "sha256": digest.hexdigest()}


def extract(name: str, extractor: Extractor, archives: Iterable[str], into: Path) -> dict[str, int | str]:
    """Write NAME.txt and NAME.json; the facts that NAME.json holds."""
    read: Counter[str] = Counter()

    def files(archive: str) -> Iterator[File]:
        for file in read_files(archive, extractor.wanted):
            read["files"] += 1
            yield file

    into.mkdir(parents=True, exist_ok=True)
    with write_atomically(into / f"{name}.txt") as text:
        documents = chain.from_iterable(extractor.documents(files(archive)) for archive in archives)
        written = write_text(documents, text, fewest_words=extractor.fewest_words)
        if not written.get("documents kept"):
            raise SystemExit(
                f"{name}: no text in {read['files']} files; the archives must have files such as {extractor.wanted}"
            )
    facts = {"source": name, **read, **written}
    write_file(into / f"{name}.json", (json.dumps(facts, indent=1) + "\n").encode())
    return facts


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m recipes.english.extract",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=sorted(EXTRACTORS), metavar="NAME")
    parser.add_argument("archives", nargs="*", metavar="ARCHIVE")
    parser.add_argument("--into", type=Path, default=Path("texts"), help="the folder of the texts (texts)")
    parser.add_argument("--list", action="store_true", help="the names, each with the addresses of its archives")
    given = parser.parse_args(arguments)
    if given.list:
        for name, extractor in EXTRACTORS.items():
            print(name, *(repository.address for repository in extractor.repositories), sep="\n    ")
        return
    if given.name is None or not given.archives:
        parser.error("name a source and its archives, or give --list")
    facts = extract(given.name, EXTRACTORS[given.name], given.archives, given.into)
    print(f"{given.name}: {facts['words kept']:,} words in {facts['lines kept']:,} of {facts['lines']:,} lines")


if __name__ == "__main__":
    main()
