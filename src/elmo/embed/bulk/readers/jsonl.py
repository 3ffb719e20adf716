"""JSON lines of vectors: where each line begins is found once, and a line parsed when it is asked for."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.guarded.plainfiles import parse_json, require_file
from elmo.embed.bulk.readers.vectorfile import VectorFile, VectorLine
from elmo.errors import InputError

CHUNK_BYTES = 1 << 20
MOST_LINE_BYTES = 1 << 30


class JsonLinesFile(VectorFile):
    """One object a line. Numbers are decimal, so this is the slowest of the formats to read."""

    def __init__(self, path: Path) -> None:
        require_file(path, refusal=InputError)
        self.path = path
        self._starts = _line_starts(path)
        self.pooled = len(self) > 0 and "vector" in self._object(0)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _line(self, number: int) -> VectorLine:
        value = self._object(number)
        try:
            with np.errstate(over="ignore"):  # what is beyond float32 is infinite
                vectors = np.array(value["vector" if self.pooled else "vectors"], dtype=np.float32)
            if not vectors.size and not value["tokens"]:  # an empty list does not tell how long its vectors would be
                vectors = vectors.reshape(*vectors.shape, self._dim)
            return VectorLine(
                number=number,
                text=_of(value["text"], str),
                file=_of(value["file"], str) if "file" in value else None,
                line=_of(value["line"], int),
                tokens=[_of(token, str) for token in _of(value["tokens"], list)],
                sentence_starts=[_of(start, int) for start in _of(value["sentence_starts"], list)],
                vectors=vectors,
            )
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise InputError(f"{self.path}: line {number + 1} is not one that `elmo embed` writes") from None

    def _token_counts(self) -> list[int]:
        return [1] * len(self) if self.pooled else [len(self._line(n).tokens) for n in range(len(self))]

    @cached_property
    def _dim(self) -> int:
        """The size of a vector, by the first line that has one."""
        for number in range(len(self)):
            if self._object(number).get("tokens"):
                return int(self._line(number).vectors.shape[-1:][0])
        return 0

    def _object(self, number: int) -> dict[str, Any]:
        start, stop = int(self._starts[number]), int(self._starts[number + 1])
        with open(self.path, "rb") as file:
            file.seek(start)
            content = file.read(min(stop - start, MOST_LINE_BYTES + 1))
        where = f"{self.path}: line {number + 1}"
        return parse_json(content, where=where, most_bytes=MOST_LINE_BYTES, refusal=InputError)


def _line_starts(path: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The place of each line's first byte, and the end of the file."""
    found = [np.zeros(1, np.int64)]
    position = 0
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            found.append(np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n")) + position + 1)
            position += len(chunk)
    starts = np.concatenate(found)
    return starts if starts[-1] == position else np.append(starts, position)


def _of(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value
