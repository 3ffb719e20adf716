"""The distinct words of all blocks become types in one order: by descending training count, ties by bytes.

Every word lies in one of BUCKETS hash buckets. So the words of all blocks are joined one *share* of the buckets at a
time, as large as the memory limit allows; each share is put on disk in order, and they are merged while they are read.

B blocks, E entries (distinct words of each block, summed over blocks), T types.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.corpus.bar import StageClock
from elmo.corpus.block import BUCKETS, StoredBlock
from elmo.corpus.layout import SEPARATOR
from elmo.disk.hashed import HashedFile

# A word of usual length as a bytes object (48), its number (32), its place in the dictionary (up to 100), in a list (8)
# and in the order while that is sorted (40).
BYTES_A_TYPE = 240
TYPES_AT_ONCE = 1 << 16

Shares = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class TypesChunk:
    """Some types that follow each other in the final order."""

    words: list[bytes]
    counts: npt.NDArray[np.int64]


class MergedTypes:
    """The types of all blocks: read them in order once with `chunks`, then `lookup` maps each block to them."""

    def __init__(
        self,
        blocks: Sequence[StoredBlock],
        training_counts: Path,
        *,
        shares: Shares,
        folder: Path,
        clock: StageClock,
    ) -> None:
        """`training_counts` holds int32 counts of the words of each block, one after the other: [E]."""
        self._blocks, self._counts, self._shares, self._folder = blocks, training_counts, shares, folder
        self._sizes = [self._join(share, clock) for share in range(len(shares))]
        self._ranks = [np.zeros(size, dtype=np.int32) for size in self._sizes]
        self.count = sum(self._sizes)

    def chunks(self, clock: StageClock) -> Iterator[TypesChunk]:
        """The types in their final order, from type 1 on; remembers which number each one got."""
        merged = heapq.merge(*[self._read_share(share) for share in range(len(self._shares))])
        following = SEPARATOR + 1
        while chunk := list(islice(merged, TYPES_AT_ONCE)):
            negated, words, owners, places = zip(*chunk, strict=True)
            owner = np.array(owners)
            place = np.array(places)
            number = np.arange(following, following + len(chunk), dtype=np.int32)
            for share, ranks in enumerate(self._ranks):
                ranks[place[owner == share]] = number[owner == share]
            following += len(chunk)
            yield TypesChunk(list(words), -np.array(negated, dtype=np.int64))
            clock.advance(done=following - 1, words=len(chunk))

    def lookups(self) -> Iterator[npt.NDArray[np.int32]]:
        """For each block in turn the type of each of its symbols: [W + 1]."""
        files = [open(self._path(share, "numbers"), "rb") for share in range(len(self._shares))]  # noqa: SIM115
        try:
            for block in self._blocks:
                parts = [np.array([SEPARATOR], dtype=np.int32)]
                for (first, last), file, ranks in zip(self._shares, files, self._ranks, strict=True):
                    size = int(block.bucket_words[last] - block.bucket_words[first])
                    parts.append(ranks[np.fromfile(file, dtype=np.int32, count=size)])
                yield np.concatenate(parts)
        finally:
            for file in files:
                file.close()

    def _path(self, share: int, name: str) -> Path:
        return self._folder / f"{share:03d}.{name}"

    def _join(self, share: int, clock: StageClock) -> int:
        """Number the words of one share over all blocks, and put them on disk in order. Returns how many they are."""
        first, last = self._shares[share]
        number: defaultdict[bytes, int] = defaultdict(count().__next__)
        totals = np.zeros(1024, dtype=np.int64)
        offset = 0  # of the block in the counts file
        with HashedFile(self._path(share, "numbers")) as numbers, open(self._counts, "rb") as counts:
            for i, block in enumerate(self._blocks, start=1):
                words = block.words(first, last)
                local = np.fromiter(map(number.__getitem__, words), dtype=np.int32, count=len(words))
                if len(number) > len(totals):
                    totals = np.concatenate([totals, np.zeros(len(number), dtype=np.int64)])
                counts.seek(4 * (offset + int(block.bucket_words[first])))
                totals[local] += np.fromfile(counts, dtype=np.int32, count=len(words))
                numbers.write(local.tobytes())
                offset += block.facts.types
                clock.advance(done=share * len(self._blocks) + i, words=block.facts.words // len(self._shares))
        words = list(number)
        by_bytes = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int32)
        order = by_bytes[np.argsort(-totals[by_bytes], kind="stable")]
        with HashedFile(self._path(share, "words")) as file:
            for start in range(0, len(order), TYPES_AT_ONCE):
                file.write(b"".join(words[i] + b"\n" for i in order[start : start + TYPES_AT_ONCE].tolist()))
        with HashedFile(self._path(share, "order")) as file:
            file.write(order.tobytes())
        with HashedFile(self._path(share, "counts")) as file:
            file.write(totals[order].tobytes())
        return len(words)

    def _read_share(self, share: int) -> Iterator[tuple[int, bytes, int, int]]:
        """The words of a share in order: count negated, word, share, number within the share."""
        with (
            open(self._path(share, "words"), "rb") as words,
            open(self._path(share, "order"), "rb") as order,
            open(self._path(share, "counts"), "rb") as counts,
        ):
            size = TYPES_AT_ONCE // len(self._shares)
            while len(places := np.fromfile(order, dtype=np.int32, count=size)):
                negated = -np.fromfile(counts, dtype=np.int64, count=size)
                lines = (line[:-1] for line in islice(words, len(places)))
                yield from zip(negated.tolist(), lines, [share] * len(places), places.tolist(), strict=True)


def divide(entries: int, *, memory_limit: int) -> Shares:
    """Ranges of buckets (first, last + 1) that fit the limit each, even if no block had a word of another block."""
    number = min(max(1, -(-entries * BYTES_A_TYPE // memory_limit)), BUCKETS)
    edges = [BUCKETS * share // number for share in range(number + 1)]
    return list(pairwise(edges))
