"""npz files of vectors: the members of a line are unpacked when it is asked for."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.disk.guarded.archives import UNREADABLE, check_directory
from elmo.disk.guarded.arrayfiles import read_member
from elmo.disk.guarded.plainfiles import one_line, require_file
from elmo.embed.bulk.readers.inferring import is_pooled
from elmo.embed.bulk.readers.vectorfile import VectorFile, VectorLine
from elmo.errors import InputError

MEMBERS_A_LINE = 3
MOST_LINES = 1 << 26
MOST_DIRECTORY_BYTES = 1 << 33


class NpzFile(VectorFile):
    """Arrays `0`, `0.tokens`, `0.sentence_starts`, and so on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = require_file(path, refusal=InputError)
        check_directory(
            path, most_members=MEMBERS_A_LINE * MOST_LINES, most_bytes=MOST_DIRECTORY_BYTES, refusal=InputError
        )
        try:
            self._archive = zipfile.ZipFile(path)
        except UNREADABLE as error:
            raise InputError(f"{path}: cannot be read as .npz ({one_line(error)})") from None
        names = set(self._archive.namelist())
        several = {"files.npy", "file_starts.npy"} <= names
        self._count, extra = divmod(len(names) - (2 if several else 0), MEMBERS_A_LINE)
        if extra or not all(f"{n}.npy" in names for n in range(self._count)):
            raise InputError(f"{path}: its arrays are not those that `elmo embed` writes")
        self._files: list[str] = self._read("files").tolist() if several else []
        self._file_starts = self._read("file_starts") if several else np.zeros(0, np.int64)
        if self._file_starts.shape != (len(self._files),) or self._file_starts.dtype.kind != "i":
            raise InputError(f"{path}: its files and where they start do not belong together; it is damaged")
        self.pooled = is_pooled(self)

    def __len__(self) -> int:
        return self._count

    def _line(self, number: int) -> VectorLine:
        file, line = None, number
        if self._files:
            place = int(np.searchsorted(self._file_starts, number, side="right")) - 1
            file, line = self._files[place], number - int(self._file_starts[place])
        vectors, starts = self._read(f"{number}"), self._read(f"{number}.sentence_starts")
        if vectors.dtype.kind != "f" or starts.dtype.kind != "i":
            raise InputError(f"{self.path}: line {number} is not one that `elmo embed` writes")
        tokens = [str(token) for token in self._read(f"{number}.tokens").ravel().tolist()]
        return VectorLine(
            number=number,
            text=None,
            file=file,
            line=line,
            tokens=tokens,
            sentence_starts=starts.ravel().tolist(),
            vectors=vectors,
        )

    def _token_counts(self) -> list[int]:
        return [1] * len(self) if self.pooled else [len(self._read(f"{n}.tokens")) for n in range(len(self))]

    def _read(self, name: str) -> npt.NDArray[Any]:
        try:
            return read_member(self._archive, name, self.path, size=self._size, refusal=InputError)
        except UNREADABLE as error:
            raise InputError(f"{self.path}: {name}: cannot be read ({one_line(error)})") from None

    def close(self) -> None:
        self._archive.close()
