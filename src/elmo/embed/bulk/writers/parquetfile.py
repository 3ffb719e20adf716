"""Parquet at the speed of memory: vectors go from their array into the file as they are.

Parquet counts, for each number, how deep in lists it stands and where lists begin. Libraries work that out number by
number, which for vectors takes ten times longer than to write them. But all vectors are of one size, so that these
levels are a short pattern that comes again for each vector. Here that pattern is written, and the numbers behind it.
All other columns, and the description of the schema, are pyarrow's.
[parquet-format, Encodings.md, "RLE/Bit-Packing Hybrid"; README.md, "Nested Encoding"; parquet.thrift]
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from elmo.embed.bulk.writers.columns import import_pyarrow
from elmo.embed.bulk.writers.thrift import (
    BINARY,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    dump_struct,
    parse_struct,
    varint,
)
from elmo.embed.numbered import Integers
from elmo.errors import ElmoError

MAGIC = b"PAR1"
PAGE_BYTES = 8 << 20
FLOAT, FIXED_LEN_BYTE_ARRAY = 4, 7  # physical types
PLAIN, RLE = 0, 3  # encodings
UNCOMPRESSED = 0
DATA_PAGE = 0


class ParquetStream:
    """A Parquet file that is written a row group at a time. Vectors are the last columns of `schema`."""

    def __init__(self, file: BinaryIO, schema: Any, *, vectors: list[str], written_as: dict[str, Any]) -> None:
        """`written_as` are options of pyarrow's for the columns that are not `vectors`."""
        arrow, self._parquet = import_pyarrow()
        self._arrow = arrow
        self._file = file
        self._written_as = written_as
        self._others = arrow.schema([field for field in schema if field.name not in vectors])
        empty = arrow.BufferOutputStream()
        with self._parquet.ParquetWriter(empty, schema):
            pass
        self._about = _footer_of(empty.getvalue())
        described = self._parquet.ParquetFile(arrow.BufferReader(empty.getvalue())).schema
        leaves = [described.column(n) for n in range(len(described))]
        self._paths = [leaf.path.split(".") for leaf in leaves if leaf.path.split(".")[0] in vectors]
        self._nested = leaves[-1].max_repetition_level == 2  # a list of vectors in each row
        self.position = 0
        self.row_groups: list[Struct] = []
        self._write(MAGIC)

    def write(self, others: list[Any], vectors: list[npt.NDArray[Any]], counts: Integers) -> None:
        """A row group: columns of Arrow, and columns of vectors [V, D]; `counts` are the vectors of each row."""
        begun = self.position
        columns = self._write_others(others)
        for path, array in zip(self._paths, vectors, strict=True):
            columns.append(self._write_vectors(path, array, counts))
        abouts = [column[3][1] for column in columns]
        self.row_groups.append(
            {
                1: (LIST, (STRUCT, columns)),
                2: (I64, sum(about[6][1] for about in abouts)),
                3: (I64, len(counts)),
                5: (I64, begun),
                6: (I64, self.position - begun),
                7: (I16, len(self.row_groups)),
            }
        )

    def dump_groups(self, first: int) -> bytes:
        """The row groups from the first one on, for `restore_groups`."""
        return dump_struct({1: (LIST, (STRUCT, self.row_groups[first:]))})

    def restore_groups(self, dumped: bytes, position: int) -> None:
        """Take row groups for written that end at `position`."""
        self.row_groups += parse_struct(dumped)[1][1][1]
        self.position = position

    def finish(self) -> None:
        """Write the description of the file, without which it is none."""
        rows = sum(group[3][1] for group in self.row_groups)
        about = {**self._about, 3: (I64, rows), 4: (LIST, (STRUCT, self.row_groups))}
        footer = dump_struct(about)
        self._write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def _write_others(self, arrays: list[Any]) -> list[Struct]:
        """pyarrow's own chunks of columns, moved to their place here."""
        sink = self._arrow.BufferOutputStream()
        with self._parquet.ParquetWriter(sink, self._others, **self._written_as) as writer:
            table = self._arrow.Table.from_arrays(arrays, schema=self._others)
            writer.write_table(table, row_group_size=max(1, len(table)))  # pyarrow begins a new one after 2**20 rows
        content = sink.getvalue()
        groups = _footer_of(content)[4][1][1]
        if not groups:
            return []
        if len(groups) > 1:
            raise ElmoError(f"{len(table):,} rows are too many for one row group; embed in parts of fewer lines")
        shift = self.position - len(MAGIC)
        columns: list[Struct] = groups[0][1][1][1]
        for column in columns:
            about: Struct = column[3][1]
            # The places of the chunk, its first page, and its dictionary.
            for struct, field in ((column, 2), (about, 9), (about, 11)):
                if struct.get(field, (I64, 0))[1]:
                    struct[field] = (I64, struct[field][1] + shift)
        end = len(content) - len(MAGIC) - 4 - int.from_bytes(content[-8:-4].to_pybytes(), "little")
        self._write(memoryview(content)[len(MAGIC) : end])
        return columns

    def _write_vectors(self, path: list[str], vectors: npt.NDArray[Any], counts: Integers) -> Struct:
        begun = self.position
        values = 0
        for first, last, levels, size in self._pages(counts, vectors.shape[1], vectors.nbytes // max(1, len(vectors))):
            data = vectors[first:last]
            length = len(levels) + data.nbytes
            encodings = {1: (I32, size), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
            header = {1: (I32, DATA_PAGE), 2: (I32, length), 3: (I32, length), 5: (STRUCT, encodings)}
            self._write(dump_struct(header) + levels)
            self._write(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data)
            values += size
        bytes_written = self.position - begun
        about: Struct = {
            1: (I32, FLOAT if vectors.dtype == np.float32 else FIXED_LEN_BYTE_ARRAY),
            2: (LIST, (I32, [PLAIN, RLE])),
            3: (LIST, (BINARY, [name.encode() for name in path])),
            4: (I32, UNCOMPRESSED),
            5: (I64, values),
            6: (I64, bytes_written),
            7: (I64, bytes_written),
            9: (I64, begun),
        }
        return {2: (I64, 0), 3: (STRUCT, about)}

    def _pages(self, counts: Integers, dim: int, vector_bytes: int) -> Iterator[tuple[int, int, bytes, int]]:
        """Whole rows, as far as they fit: first and last vector, levels, and how many places these are for."""
        # An entry is a vector, or the empty list of a row without one.
        entries = np.maximum(counts, 1)
        rows = np.repeat(np.arange(len(counts)), entries)
        is_first = np.diff(rows, prepend=-1) > 0
        is_empty = counts[rows] == 0
        sizes = np.cumsum(np.where(is_empty, 0, vector_bytes))
        starts = np.append(np.flatnonzero(is_first), len(rows))
        vector = entry = 0
        while entry < len(rows):
            before = int(sizes[entry - 1]) if entry else 0
            stop = int(np.searchsorted(sizes, before + PAGE_BYTES, side="right"))
            whole = int(starts[np.searchsorted(starts, stop, side="right") - 1])
            stop = (
                whole if whole > entry else max(stop, entry + 1)
            )  # a row that is longer than a page goes into several
            empty = is_empty[entry:stop]
            count = int((~empty).sum())
            repetitions = self._repetitions(is_first[entry:stop], empty, dim)
            definitions = self._definitions(empty, dim)
            levels = b"".join(len(part).to_bytes(4, "little") + part for part in (repetitions, definitions))
            yield vector, vector + count, levels, count * dim + int(empty.sum())
            vector, entry = vector + count, stop

    def _repetitions(self, is_first: npt.NDArray[np.bool_], is_empty: npt.NDArray[np.bool_], dim: int) -> bytes:
        """Once the level of a vector's first number, then so often that of the others."""
        inner = 2 if self._nested else 1
        pattern = varint(1 << 1) + b"\0" + (varint(dim - 1 << 1) + bytes([inner]) if dim > 1 else b"")
        runs = np.tile(np.frombuffer(pattern, np.uint8), (len(is_first), 1))  # [entries, bytes]
        runs[:, 1] = np.where(is_first | (inner == 1), 0, 1)
        kept = np.ones(runs.shape, dtype=bool)
        kept[is_empty, 2:] = False
        return runs[kept].tobytes()

    def _definitions(self, is_empty: npt.NDArray[np.bool_], dim: int) -> bytes:
        """Numbers are there to the last level; an empty list is there, but nothing in it."""
        full = 5 if self._nested else 3
        out = bytearray()
        for empty, run in groupby(is_empty.tolist()):
            count = len(list(run))
            out += varint((count if empty else count * dim) << 1) + bytes([1 if empty else full])
        return bytes(out)

    def _write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self.position += len(data)


def _footer_of(content: Any) -> Struct:
    """The metadata at the end of a file in memory."""
    size = int.from_bytes(content[-8:-4].to_pybytes(), "little")
    return parse_struct(content[-8 - size : -8].to_pybytes())
