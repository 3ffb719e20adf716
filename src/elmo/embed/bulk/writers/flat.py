"""Parquet, one row a token: its line, its place there, the word and its vector. For tables and databases."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from elmo.embed.bulk.writers.columns import import_pyarrow, strings, vector_columns, vector_type
from elmo.embed.bulk.writers.row import Row, Shape, in_groups


def write_flat(rows: Iterable[Row], path: Path, shape: Shape) -> None:
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
        for group in in_groups(rows):
            lengths = [len(row.tokens) for row in group]
            columns: list[Any] = []
            if shape.files:
                columns.append(strings(arrow, [row.file or "" for row in group for _ in row.tokens]))
            columns += [
                arrow.array(np.repeat([row.line for row in group], lengths), arrow.int64()),
                arrow.array(np.concatenate([np.arange(length) for length in lengths]), arrow.int32()),
                strings(arrow, [token for row in group for token in row.tokens]),
            ]
            for n in range(len(names)):
                arrays = [row.vectors if shape.layers is None else row.vectors[n] for row in group]
                flat = np.concatenate([array.reshape(-1) for array in arrays])
                columns.append(arrow.FixedSizeListArray.from_arrays(arrow.array(flat), type=vector))
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
