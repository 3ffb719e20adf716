"""One block of text as numbers: what a worker makes and keeps on disk. Knows its own text only; the types are numbered
within the block, so that blocks can be made in any order and by any process.

N symbols, S sentences, W distinct words (local types), H hash buckets.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from elmo.corpus.layout import SEPARATOR
from elmo.disk.workfiles import dump_arrays, read_arrays
from elmo.disk.writing import write_file
from elmo.errors import ResumeError

Documents = Literal["files", "lines", "blank-lines"]
SentencesOf = Callable[[str], Iterable[list[str]]]  # a line of text to its sentences, each a list of words

# Distinct words are kept by hash, so that the words of all blocks can be joined share by share within a memory limit.
# Not more, because a file or three are open for each share, and some systems allow 256 in all.
BUCKETS = 64


@dataclass(frozen=True)
class Block:
    """The numbers of one block."""

    symbols: npt.NDArray[np.unsignedinteger[Any]]  # [N]: 0 is the separator, w + 1 the local type w
    lengths: npt.NDArray[np.uint32]  # [S]: words of each sentence
    documents: npt.NDArray[np.uint32]  # sentences before which the text says that a document starts
    words: npt.NDArray[np.uint8]  # the distinct words, ordered by bucket, a line end between two
    counts: npt.NDArray[np.uint32]  # [W]
    bucket_words: npt.NDArray[np.uint32]  # [H + 1]: the first word of each bucket, and W
    bucket_bytes: npt.NDArray[np.uint32]  # [H + 1]: where it starts in `words`


class SegmentFacts(NamedTuple):
    """What is known of the part of a block that is from one file."""

    words: int
    sentences: int
    ends_document: bool  # a blank line follows the last sentence, where blank lines divide documents


@dataclass(frozen=True)
class BlockFacts:
    """What is known of a block without reading its arrays."""

    sha256: str  # of the text
    types: int
    segments: list[SegmentFacts]

    @property
    def words(self) -> int:
        return sum(segment.words for segment in self.segments)

    @property
    def sentences(self) -> int:
        return sum(segment.sentences for segment in self.segments)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "BlockFacts":
        """What `to_json` wrote; KeyError, TypeError or ValueError for anything else."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "BlockFacts":
        """The same from values of JSON."""
        return cls(values["sha256"], values["types"], [SegmentFacts(*segment) for segment in values["segments"]])


def number_words(
    texts: Iterable[str], sentences_of: SentencesOf, *, documents: Documents
) -> tuple[Block, list[SegmentFacts]]:
    """The block of some texts, and the facts of each. A newline stands between two lines of a text, none at its end."""
    number: defaultdict[str, int] = defaultdict(count(SEPARATOR + 1).__next__)  # a new word gets the next number
    symbols = array("I")
    starts = array("I")
    segments = []
    sentences = 0
    for text in texts:
        symbols_before, sentences_before = len(symbols), sentences
        pending = False
        for line in text.split("\n"):
            found = sentences
            for words in sentences_of(line):
                symbols.extend(map(number.__getitem__, words))
                symbols.append(SEPARATOR)
                sentences += 1
            if found < sentences and (pending or documents == "lines"):
                starts.append(found)
                pending = False
            elif documents == "blank-lines" and (not line or line.isspace()):
                pending = True
        added = sentences - sentences_before
        segments.append(SegmentFacts(len(symbols) - symbols_before - added, added, pending))
    return _in_buckets(list(number), np.frombuffer(symbols, dtype=np.uint32), starts), segments


def _in_buckets(words: list[str], symbols: npt.NDArray[np.uint32], starts: "array[int]") -> Block:
    """Order the distinct words by bucket and number the symbols anew."""
    spelled = [word.encode("utf-8") for word in words]
    W = len(spelled)
    hashes = np.fromiter(map(crc32, spelled), dtype=np.uint32, count=W) % BUCKETS  # [W]
    order = np.argsort(hashes, kind="stable")  # [W]
    renumber: npt.NDArray[np.unsignedinteger[Any]] = np.zeros(W + 1, dtype=np.uint16 if W < 1 << 16 else np.uint32)
    renumber[order + 1] = np.arange(1, W + 1)
    renumbered = renumber[symbols]  # [N]
    ordered = [spelled[i] for i in order.tolist()]
    word_starts = np.zeros(W + 1, dtype=np.uint32)
    word_starts[1:] = np.cumsum(np.fromiter(map(len, ordered), dtype=np.uint32, count=W) + 1)
    bucket_words = np.searchsorted(hashes[order], np.arange(BUCKETS + 1)).astype(np.uint32)  # [H + 1]
    ends = np.flatnonzero(renumbered == SEPARATOR)  # [S]
    return Block(
        symbols=renumbered,
        lengths=np.diff(ends, prepend=-1).astype(np.uint32) - np.uint32(1),
        documents=np.array(starts, dtype=np.uint32),
        words=np.frombuffer(b"\n".join(ordered), dtype=np.uint8),
        counts=np.bincount(renumbered, minlength=W + 1)[1:].astype(np.uint32),
        bucket_words=bucket_words,
        bucket_bytes=word_starts[bucket_words],
    )


def write_block(path: Path, block: Block, facts: BlockFacts) -> None:
    """Keep a block on disk."""
    arrays = {_in_file(field.name): getattr(block, field.name) for field in fields(block)}
    write_file(path, dump_arrays(arrays, {"facts": asdict(facts)}))


def _in_file(name: str) -> str:
    """The name of an array in the file; symbols have been called tokens there since the first version."""
    return "tokens" if name == "symbols" else name


def read_facts(path: Path) -> BlockFacts | None:
    """The facts of a block on disk; nothing if it is not there or damaged, and so has to be made again."""
    try:
        return BlockFacts.from_dict(read_arrays(path, refusal=ResumeError)[1]["facts"])
    except (ResumeError, ValueError, TypeError, KeyError):
        return None


class StoredBlock:
    """A block on disk, its arrays read when asked for and not kept."""

    def __init__(self, path: Path, facts: BlockFacts) -> None:
        self.path, self.facts = path, facts

    def array(self, name: str) -> npt.NDArray[Any]:
        """One of the arrays of `Block`."""
        with safe_open(self.path, framework="numpy") as file:
            values: npt.NDArray[Any] = file.get_tensor(_in_file(name))
            return values

    @cached_property
    def bucket_words(self) -> npt.NDArray[np.uint32]:
        return self.array("bucket_words")

    def words(self, first: int, last: int) -> list[bytes]:
        """The distinct words of the buckets from `first` to before `last`."""
        if self.bucket_words[first] == self.bucket_words[last]:
            return []
        with safe_open(self.path, framework="numpy") as file:
            start, end = file.get_tensor("bucket_bytes")[[first, last]].tolist()
            spelled: npt.NDArray[np.uint8] = file.get_slice("words")[start : end - 1]
            return spelled.tobytes().split(b"\n")
