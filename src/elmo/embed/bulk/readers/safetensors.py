"""safetensors files of vectors: mapped into memory, so that a line costs what is read of it, and nothing is copied."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.plainfiles import parse_json
from elmo.disk.guarded.tensorheader import Entry, read_entries
from elmo.embed.bulk.readers.vectorfile import Array, VectorFile, VectorLine
from elmo.embed.bulk.writers.safetensors import ABOUT, HEADER_BYTES, VERSION
from elmo.errors import InputError

DTYPES = {"F16": "<f2", "F32": "<f4", "I64": "<i8", "U8": "u1"}
SIZES = {name: np.dtype(dtype).itemsize for name, dtype in DTYPES.items()}


class MappedFile(VectorFile):
    """Vectors and columns are maps of the file; `vectors` is all of them at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        entries, metadata = read_entries(path, SIZES, most_bytes=HEADER_BYTES, refusal=InputError)
        about = parse_json(
            metadata.get(ABOUT, "{}").encode("utf-8", "replace"),
            where=f"{path}: {ABOUT}",
            most_bytes=HEADER_BYTES,
            refusal=InputError,
        )
        if about.get("version") != VERSION:
            raise InputError(f"{path}: is not a file of vectors that this version of `elmo embed` writes")
        self.pooled = about.get("pooled") is True
        self._data: npt.NDArray[np.uint8] = np.memmap(path, mode="r", dtype=np.uint8)
        self._start = 8 + int.from_bytes(self._data[:8].tobytes(), "little")
        self._entries = entries
        self.vectors: Array = self._array("vectors", ("F16", "F32"), (2, 3))
        self._line_starts = self._integers("line_starts")
        self._sentence_starts = self._integers("sentence_starts")
        self._tokens, self._texts = self._strings("tokens"), self._strings("texts")
        self._file_starts = self._integers("file_starts") if "file_starts" in entries else None
        self._files = [] if self._file_starts is None else self._all_strings("files")
        lines, tokens = len(self._line_starts) - 1, len(self._tokens[0]) - 1
        if (
            lines != len(self._texts[0]) - 1
            or len(self.vectors) != (lines if self.pooled else tokens)
            or len(self._files) != (0 if self._file_starts is None else len(self._file_starts))
        ):
            raise InputError(f"{path}: its arrays do not belong together; it is damaged")

    def __len__(self) -> int:
        return len(self._line_starts) - 1

    def _line(self, number: int) -> VectorLine:
        start, stop = self._span(self._line_starts, number, len(self._tokens[0]) - 1)
        if self.pooled:
            vectors = self.vectors[number]
        else:
            vectors = self.vectors[start:stop]
            vectors = vectors.transpose(1, 0, 2) if vectors.ndim == 3 else vectors
        sentences = self._sentence_starts
        first, last = np.searchsorted(sentences, [start, stop])
        file, line = None, number
        if self._file_starts is not None:
            place = int(np.searchsorted(self._file_starts, number, side="right")) - 1
            if place < 0:
                raise self._damaged(number)
            file, line = self._files[place], number - int(self._file_starts[place])
        return VectorLine(
            number=number,
            text=self._string(self._texts, number),
            file=file,
            line=line,
            tokens=[self._string(self._tokens, n) for n in range(start, stop)],
            sentence_starts=[int(n) - start for n in sentences[first:last]],
            vectors=vectors,
        )

    def _token_counts(self) -> list[int]:
        if self.pooled:
            return [1] * len(self)
        counts: list[int] = np.diff(self._line_starts).tolist()
        if self._line_starts[0] != 0 or any(count < 0 for count in counts):
            raise InputError(f"{self.path}: its lines do not follow each other; it is damaged")
        return counts

    def _token_vectors(self, start: int, stop: int) -> Array:
        return self.vectors[start:stop]

    def _array(self, name: str, dtypes: tuple[str, ...], dimensions: tuple[int, ...]) -> npt.NDArray[Any]:
        entry: Entry | None = self._entries.get(name)
        if entry is None or entry.dtype not in dtypes or len(entry.shape) not in dimensions:
            raise InputError(f"{self.path}: {name}: is not there as `elmo embed` writes it")
        data = self._data[self._start + entry.start : self._start + entry.stop]
        return data.view(DTYPES[entry.dtype]).reshape(entry.shape)

    def _integers(self, name: str) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = self._array(name, ("I64",), (1,))
        if name.endswith("line_starts") and not len(found):
            raise InputError(f"{self.path}: {name}: is empty; it is damaged")
        return found

    def _strings(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        starts = self._integers(f"{name}.starts")
        if not len(starts):
            raise InputError(f"{self.path}: {name}.starts: is empty; it is damaged")
        return starts, self._array(f"{name}.bytes", ("U8",), (1,))

    def _all_strings(self, name: str) -> list[str]:
        strings = self._strings(name)
        return [self._string(strings, n) for n in range(len(strings[0]) - 1)]

    def _string(self, strings: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]], number: int) -> str:
        starts, data = strings
        start, stop = self._span(starts, number, len(data))
        return data[start:stop].tobytes().decode("utf-8", "replace")

    def _span(self, starts: npt.NDArray[np.int64], number: int, most: int) -> tuple[int, int]:
        start, stop = int(starts[number]), int(starts[number + 1])
        if not 0 <= start <= stop <= most:
            raise self._damaged(number)
        return start, stop

    def _damaged(self, number: int) -> InputError:
        return InputError(f"{self.path}: line or token {number} is not where it is said to be; the file is damaged")
