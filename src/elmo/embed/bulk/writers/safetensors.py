"""safetensors: all vectors as one array that is mapped into memory and read without a copy; one more for each column.

`vectors` is [tokens, D], or [tokens, L, D] for all layers; pooled, there is one row a line instead of a token. The rows
of line n begin at `line_starts[n]`. Strings are UTF-8 bytes in one array and where each begins in another. What grows
with the text but is not vectors waits in unnamed temporary files until the end, so that memory does not grow with it.
"""

import contextlib
import json
import tempfile
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from elmo.embed.bulk.writers.appender import Appender, Standing
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape
from elmo.embed.numbered import ranges, running_total

# The header is written last, into a place that was left for it; a page, so that the vectors begin at one.
HEADER_BYTES = 4096
ABOUT = "elmo"  # the one entry of metadata
VERSION = 1
CHUNK_BYTES = 1 << 20


class _Column:
    """One array of the file, as it grows in a temporary file."""

    def __init__(self, dtype: str, opened: contextlib.ExitStack) -> None:
        self.dtype = np.dtype(dtype)
        self.file: BinaryIO = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        self.count = 0

    def add(self, values: npt.NDArray[Any] | bytes) -> None:
        data = values if isinstance(values, bytes) else np.ascontiguousarray(values, self.dtype).tobytes()
        self.file.write(data)
        self.count += len(data) // self.dtype.itemsize


class _Strings:
    """A column of strings: their bytes, and where each begins. The end of the last is the last of the beginnings."""

    def __init__(self, opened: contextlib.ExitStack) -> None:
        self.bytes, self.starts = _Column("u1", opened), _Column("<i8", opened)
        self.starts.add(np.zeros(1))

    def add(self, texts: list[str]) -> None:
        encoded = [text.encode("utf-8", "replace") for text in texts]  # UTF-8 has no lone surrogates
        if encoded:
            self.starts.add(self.bytes.count + np.cumsum([len(text) for text in encoded]))
            self.bytes.add(b"".join(encoded))

    def add_words(self, words: list[str], ids: npt.NDArray[np.int32]) -> None:
        """The word of each number."""
        encoded = [word.encode("utf-8", "replace") for word in words]
        data = np.frombuffer(b"".join(encoded), np.uint8)
        starts = running_total(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        lengths = np.diff(starts)[ids]
        self.starts.add(self.bytes.count + np.cumsum(lengths))
        self.bytes.add(data[ranges(starts[:-1][ids], lengths)])


class SafetensorsAppender(Appender):
    """Arrays `vectors`, `line_starts`, `sentence_starts`, `tokens`, `texts`; `files` where the input is several."""

    def __init__(self, file: BinaryIO, shape: Shape) -> None:
        super().__init__(file, shape)
        self._dtype = np.dtype(shape.dtype).newbyteorder("<")
        self._tokens_before = self._lines_before = 0
        self._last_file: str | None = None
        self._lines, self._sentences, self._file_starts = (_Column("<i8", self._opened) for _ in range(3))
        self._tokens, self._texts, self._files = (_Strings(self._opened) for _ in range(3))
        self._lines.add(np.zeros(1))
        file.write(bytes(HEADER_BYTES))

    def write(self, part: EmbeddedPart) -> bytes:
        vectors = part.vectors
        if self._shape.layers is not None and not self._shape.pooled:
            vectors = vectors.transpose(1, 0, 2)  # [T, L, D]: the layers of a token stand together
        self._file.write(np.ascontiguousarray(vectors, self._dtype).data)
        self._add_columns(part)
        return b""

    def restore(self, standing: Standing) -> None:
        self._add_columns(standing.part)

    def _add_columns(self, part: EmbeddedPart) -> None:
        """What stands behind the vectors."""
        count = self._tokens_before
        for line in part.lines if self._shape.files else []:
            if line.file != self._last_file:
                self._file_starts.add(np.array([line.number]))
                self._files.add([line.file or ""])
                self._last_file = line.file
        self._sentences.add(count + part.sentence_starts)
        self._tokens.add_words(part.words, part.ids)
        self._texts.add([line.text for line in part.lines])
        self._lines.add(count + part.first_tokens[1:])
        self._tokens_before += len(part.ids)
        self._lines_before += len(part)

    def finish(self) -> None:
        columns = {"line_starts": self._lines, "sentence_starts": self._sentences}
        strings = {"tokens": self._tokens, "texts": self._texts}
        if self._shape.files:
            columns["file_starts"], strings["files"] = self._file_starts, self._files
        for name, texts in strings.items():
            columns[f"{name}.starts"], columns[f"{name}.bytes"] = texts.starts, texts.bytes
        layers = [] if self._shape.layers is None else [self._shape.layers]
        rows = self._lines_before if self._shape.pooled else self._tokens_before
        _write_end(self._file, columns, [rows, *layers, self._shape.dim], self._dtype, self._shape)


def _write_end(
    file: BinaryIO, columns: dict[str, _Column], size: list[int], dtype: np.dtype[Any], shape: Shape
) -> None:
    """The columns behind the vectors, those of 8 bytes first, and the header before them."""
    about = {"version": VERSION, "pooled": shape.pooled}
    header: dict[str, Any] = {"__metadata__": {ABOUT: json.dumps(about)}}
    end = int(np.prod(size, dtype=np.int64)) * dtype.itemsize
    header["vectors"] = {"dtype": f"F{8 * dtype.itemsize}", "shape": size, "data_offsets": [0, end]}
    padding = -end % 8  # numbers of 8 bytes begin where such a number may
    file.write(bytes(padding))
    header["padding"] = {"dtype": "U8", "shape": [padding], "data_offsets": [end, end + padding]}
    end += padding
    for name, column in sorted(columns.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        column.file.seek(0)
        while chunk := column.file.read(CHUNK_BYTES):
            file.write(chunk)
        stop = end + column.count * column.dtype.itemsize
        kind = "I64" if column.dtype.itemsize == 8 else "U8"
        header[name] = {"dtype": kind, "shape": [column.count], "data_offsets": [end, stop]}
        end = stop
    length = HEADER_BYTES - 8
    file.seek(0)
    file.write(length.to_bytes(8, "little") + json.dumps(header).encode("ascii").ljust(length))
