"""Parquet, one row a token: its line, its place there, the word and its vector. For tables and databases."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from elmo.embed.bulk.writers.columns import (
    import_pyarrow,
    layer_of,
    strings,
    tokens_column,
    vector_columns,
    vector_type,
)
from elmo.embed.bulk.writers.part import Part
from elmo.embed.bulk.writers.row import Shape


def write_flat(parts: Iterable[Part], path: Path, shape: Shape) -> None:
    """Columns: `line`, `token` (its number in the line, from 0), `word`, and `vector`, a list of fixed size.

    The last is `layer_0`, `layer_1`, ... for all layers. Where the input is several files, `file` stands first, and
    `line` is the number within it. A line without tokens has no row.
    """
    arrow, parquet = import_pyarrow()
    vector = vector_type(shape)
    names = ["vector"] if shape.layers is None else vector_columns(shape)
    schema = arrow.schema(
        ([("file", arrow.string())] if shape.files else [])
        + [("line", arrow.int64()), ("token", arrow.int32()), ("word", arrow.string())]
        + [(name, vector) for name in names]
    )
    written_as = {
        "compression": {"line": "zstd", "token": "zstd", "word": "zstd"},
        "use_dictionary": ["file", "word"],
        "write_statistics": ["line", "word"],  # so that a reader can pass over what it does not look for
    }
    with parquet.ParquetWriter(path, schema, **written_as) as writer:
        for group in (group for part in parts for group in part.groups()):
            lengths = np.diff(group.first_tokens)
            columns: list[Any] = []
            if shape.files:
                of_token = arrow.array(np.repeat(np.arange(len(group)), lengths))
                columns.append(strings(arrow, [line.file or "" for line in group.lines]).take(of_token))
            columns += [
                arrow.array(np.repeat([line.line for line in group.lines], lengths), arrow.int64()),
                arrow.array((np.arange(len(group.ids)) - np.repeat(group.first_tokens[:-1], lengths)).astype(np.int32)),
                tokens_column(arrow, group),
            ]
            for n in range(len(names)):
                flat = layer_of(group, n, shape).reshape(-1)
                columns.append(arrow.FixedSizeListArray.from_arrays(arrow.array(flat), type=vector))
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
