"""Parquet, one row a token: its line, its place there, the word and its vector. For tables and databases."""

from typing import Any, ClassVar

import numpy as np

from elmo.embed.bulk.writers.columns import import_pyarrow, strings, tokens_column, vector_columns, vector_type
from elmo.embed.bulk.writers.parquet import ParquetAppender
from elmo.embed.bulk.writers.part import EmbeddedPart


class FlatAppender(ParquetAppender):
    """Columns: `line`, `token` (its number in the line, from 0), `word`, and `vector`, a list of fixed size.

    The last is `layer_0`, `layer_1`, ... for all layers. Where the input is several files, `file` stands first, and
    `line` is the number within it. A line without tokens has no row.
    """

    written_as: ClassVar[dict[str, Any]] = {
        "compression": {"line": "zstd", "token": "zstd", "word": "zstd"},
        "use_dictionary": ["file", "word"],
        "write_statistics": ["line", "word"],  # so that a reader can pass over what it does not look for
    }

    def _schema(self) -> tuple[Any, list[str]]:
        arrow, _ = import_pyarrow()
        shape = self._shape
        names = ["vector"] if shape.layers is None else vector_columns(shape)
        schema = arrow.schema(
            ([("file", arrow.string())] if shape.files else [])
            + [("line", arrow.int64()), ("token", arrow.int32()), ("word", arrow.string())]
            + [(name, vector_type(shape)) for name in names]
        )
        return schema, names

    def _write_group(self, group: EmbeddedPart, words: Any) -> None:
        arrow, _ = import_pyarrow()
        lengths = np.diff(group.first_tokens)
        columns: list[Any] = []
        if self._shape.files:
            of_token = arrow.array(np.repeat(np.arange(len(group)), lengths))
            columns.append(strings(arrow, [line.file or "" for line in group.lines]).take(of_token))
        columns += [
            arrow.array(np.repeat([line.line for line in group.lines], lengths), arrow.int64()),
            arrow.array((np.arange(len(group.ids)) - np.repeat(group.first_tokens[:-1], lengths)).astype(np.int32)),
            tokens_column(group, words),
        ]
        self._stream.write(columns, self._vectors(group), np.ones(len(group.ids), np.int64))
