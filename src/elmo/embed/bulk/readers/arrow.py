"""Arrow and Parquet files of vectors, read group by group: Arrow's are mapped, Parquet's decoded, one in memory.

What a group declares is checked in full before any of it is read; a mapped one is then known, and not checked again.
"""

from abc import abstractmethod
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from elmo.disk.guarded.plainfiles import one_line, require_file
from elmo.embed.bulk.readers.vectorfile import Array, VectorFile, VectorLine
from elmo.embed.bulk.writers.columns import import_pyarrow
from elmo.errors import InputError

COLUMNS = ("line", "text", "tokens", "sentence_starts")


class ColumnFile(VectorFile):
    """Groups of rows with the columns that `elmo embed` writes."""

    keeps_groups: ClassVar[bool]  # all that were read, or the last one

    def __init__(self, path: Path) -> None:
        require_file(path, refusal=InputError)
        self.path = path
        self._arrow, self._parquet = import_pyarrow()
        self._groups: dict[int, Any] = {}
        try:
            names, sizes = self._open()
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read ({one_line(error)})") from None
        self._layers = sorted(name for name in names if name.startswith("layer_"))
        self._layers = [f"layer_{n}" for n in range(len(self._layers))]
        self._vectors = self._layers or [name for name in ("vectors", "vector") if name in names][:1]
        if "token" in names and "word" in names:
            raise InputError(
                f"{path}: has a row for each token, not for each line (made with --flat); read it with a library "
                "of tables, such as pyarrow, DuckDB or Polars"
            )
        missing = [name for name in (*COLUMNS, *self._vectors) if name not in names]
        if missing or not self._vectors:
            raise InputError(f"{path}: has no column {(missing or ['vectors'])[0]!r}, as `elmo embed` writes it")
        self._has_files = "file" in names
        self._ends = list(accumulate(sizes))
        self.pooled = self._is_pooled()

    @abstractmethod
    def _open(self) -> tuple[list[str], list[int]]:
        """The names of the columns, and how many rows each group has."""

    @abstractmethod
    def _read_group(self, number: int) -> Any:
        """The columns of a group by name."""

    @abstractmethod
    def _column_type(self, name: str) -> Any:
        """What a column holds."""

    def _is_pooled(self) -> bool:
        types = self._arrow.types
        kind = self._column_type(self._vectors[0])
        pooled = types.is_fixed_size_list(kind)
        vector = kind if pooled else kind.value_type if types.is_list(kind) else None
        if vector is None or not types.is_fixed_size_list(vector) or not types.is_floating(vector.value_type):
            raise InputError(f"{self.path}: column {self._vectors[0]!r} is {kind}, but vectors of one size are wanted")
        return bool(pooled)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _line(self, number: int) -> VectorLine:
        place = int(np.searchsorted(self._ends, number, side="right"))
        group = self._checked_group(place)
        row = number - (self._ends[place - 1] if place else 0)
        try:
            vectors = [self._vectors_of(group, name, row) for name in self._vectors]
            return VectorLine(
                number=number,
                text=group["text"][row].as_py(),
                file=group["file"][row].as_py() if self._has_files else None,
                line=group["line"][row].as_py(),
                tokens=group["tokens"][row].as_py(),
                sentence_starts=group["sentence_starts"][row].as_py(),
                vectors=np.stack(vectors) if self._layers else vectors[0],
            )
        except (self._arrow.ArrowException, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{self.path}: line {number} cannot be read ({one_line(error)})") from None

    def _vectors_of(self, group: Any, name: str, row: int) -> Array:
        """[T, D], or [D] when pooled: a view of the column where the file is mapped."""
        column = group[name]
        dim = column.type.list_size if self.pooled else column.type.value_type.list_size
        if self.pooled:
            start, stop = column.offset + row, column.offset + row + 1
            numbers = column.values
        else:
            start, stop = column.offsets[row].as_py(), column.offsets[row + 1].as_py()
            numbers = column.values.values
            start, stop = start + column.values.offset, stop + column.values.offset
        flat: Array = numbers.slice(start * dim, (stop - start) * dim).to_numpy(zero_copy_only=True)
        return flat if self.pooled else flat.reshape(-1, dim)

    def _token_counts(self) -> list[int]:
        if self.pooled:
            return [1] * len(self)
        counts: list[int] = []
        for place in range(len(self._ends)):
            counts += np.diff(self._checked_group(place)["tokens"].offsets.to_numpy()).tolist()
        return counts

    def _checked_group(self, number: int) -> Any:
        """A group by its number."""
        group = self._groups.get(number)
        if group is None:
            try:
                group = self._read_group(number)
                for column in group.values():
                    column.validate(full=True)
            except (self._arrow.ArrowException, OSError, ValueError) as error:
                raise InputError(f"{self.path}: cannot be read ({one_line(error)}); it is damaged") from None
            if not self.keeps_groups:
                self._groups.clear()
            self._groups[number] = group
        return group


class ArrowFile(ColumnFile):
    """Arrow's own format: the file is mapped, and vectors are views of it."""

    keeps_groups = True

    def _open(self) -> tuple[list[str], list[int]]:
        self._reader = self._arrow.ipc.open_file(self._arrow.memory_map(str(self.path)))
        sizes = [self._reader.get_batch(n).num_rows for n in range(self._reader.num_record_batches)]
        return self._reader.schema.names, sizes

    def _column_type(self, name: str) -> Any:
        return self._reader.schema.field(name).type

    def _read_group(self, number: int) -> Any:
        batch = self._reader.get_batch(number)
        return dict(zip(batch.schema.names, batch.columns, strict=True))


class ParquetFile(ColumnFile):
    """Parquet: the row group of a line is decoded, and kept until another is asked for."""

    keeps_groups = False

    def _open(self) -> tuple[list[str], list[int]]:
        self._reader = self._parquet.ParquetFile(self.path)
        about = self._reader.metadata
        return self._reader.schema_arrow.names, [about.row_group(n).num_rows for n in range(about.num_row_groups)]

    def _column_type(self, name: str) -> Any:
        return self._reader.schema_arrow.field(name).type

    def _read_group(self, number: int) -> Any:
        table = self._reader.read_row_group(number).combine_chunks()
        return {name: table[name].chunk(0) for name in table.column_names}

    def close(self) -> None:
        self._reader.close()
