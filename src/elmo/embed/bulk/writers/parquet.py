"""Parquet: one row a line; `tokens` and, for each token, a vector of fixed size. Needs the extra `parquet`."""

from typing import Any, BinaryIO, ClassVar

import numpy as np

from elmo.embed.bulk.writers.appender import Appender, Standing
from elmo.embed.bulk.writers.columns import schema_of, text_columns, vector_columns, vectors_of_layer, word_column
from elmo.embed.bulk.writers.parquetfile import ParquetStream
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape


class ParquetAppender(Appender):
    """The columns that `schema_of` says, a row group after the other."""

    written_as: ClassVar[dict[str, Any]] = {
        "compression": {"text": "zstd", "tokens.list.element": "zstd"},
        "use_dictionary": ["file", "tokens.list.element"],
        "write_statistics": ["line"],
    }

    def __init__(self, file: BinaryIO, shape: Shape) -> None:
        super().__init__(file, shape)
        schema, vectors = self._schema()
        self._stream = ParquetStream(file, schema, vectors=vectors, written_as=self.written_as)

    def write(self, part: EmbeddedPart) -> bytes:
        before = len(self._stream.row_groups)
        words = word_column(part)
        for group in part.groups():
            self._write_group(group, words)
        return self._stream.dump_groups(before)

    def restore(self, standing: Standing) -> None:
        self._stream.restore_groups(standing.kept, standing.stop)

    def finish(self) -> None:
        self._stream.finish()

    def _schema(self) -> tuple[Any, list[str]]:
        """The schema, and which of its columns are vectors: the last ones."""
        return schema_of(self._shape), vector_columns(self._shape)

    def _write_group(self, group: EmbeddedPart, words: Any) -> None:
        counts = np.ones(len(group), np.int64) if self._shape.pooled else np.diff(group.first_tokens)
        self._stream.write(text_columns(group, words, self._shape), self._vectors(group), counts)

    def _vectors(self, group: EmbeddedPart) -> list[Any]:
        return [vectors_of_layer(group, n, self._shape) for n in range(self._shape.layers or 1)]
