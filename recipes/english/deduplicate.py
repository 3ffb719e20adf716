"""Leaves out lines that were there before, in the same text or in one that was named earlier.

    python -m recipes.english.deduplicate wikipedia.txt books.txt ... --into distinct [--known heldout.txt ...]

Two lines are the same if they have the same letters and digits, without regard to capitals. A line is nearly the same
as what was read if more than half of its marks were seen: a mark is eight words in a row that begin with one of certain
words, a quarter of all. An article that another dump has in an older version so loses what it shares with it.

Marks and lines are bits of a table of fixed size (a Bloom filter), so memory does not grow with the text. With 450
million words a twelfth of the bits is set. Then one line in 1,700 looks repeated by chance, which does no harm.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal
from zlib import crc32

from elmo.disk.writing import write_file
from recipes.english.documents import read_documents, targets_in, write_documents

Found = Literal["new", "repeated", "nearly repeated"]

BITS = 31  # of a place in the table: 256 MiB
MARK = 8  # words
ANCHORS = 4  # one word in so many begins a mark
FEWEST_MARKS = 4  # of a line that is compared by marks
WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1 << 17)
def _begins_mark(word: str) -> bool:
    return crc32(word.encode()) % ANCHORS == 0


class Seen:
    """What was read, as bits of a table."""

    def __init__(self, bits: int = BITS) -> None:
        self._table = bytearray(1 << (bits - 3))
        self._bits = bits

    def add(self, line: str) -> Found:
        """Whether the line is new; from now on it is not."""
        words = WORD.findall(line.lower())
        # Three places for a line, because one bit may be set by chance; a mark has others beside it.
        whole = int.from_bytes(blake2b(" ".join(words).encode(), digest_size=12).digest(), "little")
        places = [(whole >> 32 * part & 0xFFFFFFFF) >> (32 - self._bits) for part in range(3)]
        if sum(self._set(place) for place in places) == len(places):
            return "repeated"
        seen = [self._set(place) for place in self._marks(words)]
        return "nearly repeated" if len(seen) >= FEWEST_MARKS and 2 * sum(seen) > len(seen) else "new"

    def _marks(self, words: list[str]) -> Iterator[int]:
        for start in range(len(words) - MARK + 1):
            if _begins_mark(words[start]):
                yield crc32(" ".join(words[start : start + MARK]).encode()) >> (32 - self._bits)

    def _set(self, place: int) -> bool:
        """Set a bit; whether it was set."""
        byte, bit = place >> 3, 1 << (place & 7)
        before = self._table[byte]
        self._table[byte] = before | bit
        return bool(before & bit)


def new_lines(path: Path, seen: Seen, counts: Counter[str]) -> Iterator[list[str]]:
    """The documents of a text without the lines that were there before."""
    for document in read_documents(path):
        found = [seen.add(line) for line in document]
        counts.update(found)
        yield [line for line, what in zip(document, found, strict=True) if what == "new"]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path, help="the first that has a line keeps it")
    parser.add_argument("--into", type=Path, required=True, help="the folder of what is left")
    parser.add_argument("--known", nargs="*", type=Path, default=[], help="texts that are only compared with")
    given = parser.parse_args(arguments)
    targets = targets_in(given.into, given.texts)
    seen = Seen()
    for path in given.known:
        for document in read_documents(path):
            for line in document:
                seen.add(line)
    facts = {}
    for path, target in zip(given.texts, targets, strict=True):
        counts: Counter[str] = Counter()
        write_documents(target, new_lines(path, seen, counts))
        facts[path.name] = dict(counts)
        left_out = counts["repeated"] + counts["nearly repeated"]
        print(f"{path.name}: {left_out:,} of {counts.total():,} lines left out", flush=True)
    write_file(given.into / "deduplicated.json", (json.dumps(facts, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
