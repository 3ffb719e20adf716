"""Files written piece by piece, with their hash.

No file is mapped for writing: on a full disk that ends the process (SIGBUS), where `write` gives an error.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from elmo.disk.writing import errors_naming


class HashedFile:
    """A file written from its start to its end; `sha256` is known when it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sha256 = ""
        self._hash = hashlib.sha256()
        with errors_naming(path):
            self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115  closed by __exit__

    def write(self, content: bytes | memoryview) -> None:
        with errors_naming(self.path):
            self._file.write(content)
        self._hash.update(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with errors_naming(self.path):
                    self._file.flush()
                    os.fsync(self._file.fileno())
                self.sha256 = self._hash.hexdigest()
        finally:
            # A flush that failed once fails here again; the first error is the one to tell.
            with contextlib.suppress(OSError):
                self._file.close()


class ArrayFile(HashedFile):
    """A `.npy` file of known shape, its rows appended in pieces."""

    def __init__(self, path: Path, *, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        super().__init__(path)
        self._dtype, self._rows, self._row_shape = dtype, shape[0], shape[1:]
        self._written = 0
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self, header)

    def append(self, rows: npt.NDArray[Any]) -> None:
        if rows.shape[1:] != self._row_shape:
            raise ValueError(f"{self.path}: rows of shape {rows.shape[1:]} where {self._row_shape} was announced")
        self._written += len(rows)
        if len(rows):
            self.write(np.ascontiguousarray(rows, dtype=self._dtype).data.cast("B"))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is None and self._written != self._rows:
            raise ValueError(f"{self.path}: {self._written} rows written where {self._rows} were announced")
