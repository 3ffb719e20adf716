"""Arrow's file format (Feather 2): the columns of Parquet, uncompressed, so that libraries map them without a copy."""

from typing import Any, BinaryIO

from elmo.embed.bulk.writers.appender import Appender, Standing
from elmo.embed.bulk.writers.columns import groups_of_columns, import_pyarrow, schema_of
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape
from elmo.errors import ResumeError

MAGIC = b"ARROW1\0\0"  # behind it the file is a stream of messages


class ArrowAppender(Appender):
    """One record batch after the other."""

    def __init__(self, file: BinaryIO, shape: Shape) -> None:
        super().__init__(file, shape)
        self._arrow, _ = import_pyarrow()
        self._schema = schema_of(shape)
        self._sink = _Sink(file)
        self._writer = self._arrow.ipc.new_file(self._arrow.PythonFile(self._sink, "w"), self._schema)

    def write(self, part: EmbeddedPart) -> bytes:
        for columns in groups_of_columns([part], self._shape):
            self._writer.write_batch(self._arrow.record_batch(columns, schema=self._schema))
        return b""

    def restore(self, standing: Standing) -> None:
        """pyarrow's writer keeps where each batch is; it is told by writing them once more, to nowhere."""
        self._sink.writes = False
        with self._arrow.memory_map(self._file.name) as mapped:
            mapped.seek(self._sink.position or len(MAGIC))
            while mapped.tell() < standing.stop:
                message = self._arrow.ipc.read_message(mapped)
                if message.type == "record batch":  # the schema stands before the first one
                    self._writer.write_batch(self._arrow.ipc.read_record_batch(message, self._schema))
        self._sink.writes = True
        if self._sink.position != standing.stop:
            raise ResumeError(f"{self._file.name}: is not what was written there; start again with --overwrite")

    def finish(self) -> None:
        self._writer.close()


class _Sink:
    """A file of Python's as pyarrow writes to it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.writes = True
        self.position = 0

    def write(self, data: Any) -> int:
        if self.writes:
            self._file.write(data)
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass
