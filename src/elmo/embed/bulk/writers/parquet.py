"""Parquet: one row a line; `tokens` and, for each token, a vector of fixed size. Needs the extra `parquet`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elmo.embed.bulk.writers.row import Row, Shape
from elmo.errors import MissingExtraError

# A row group ends at either bound; its description stays in memory until the file is closed.
ROWS_IN_GROUP = 16_384
BYTES_IN_GROUP = 32 << 20


def import_pyarrow() -> tuple[Any, Any]:
    """The package and its Parquet module; a job asks for them before it computes anything."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs pyarrow; install it with: pip install pyarrow") from error
    return pyarrow, pyarrow.parquet


def write_parquet(rows: Iterable[Row], path: Path, shape: Shape) -> None:
    """Columns: `line`, `text`, `tokens`, `sentence_starts` and `vectors`.

    The last is `vector` when pooled, and `layer_0`, `layer_1`, ... for all layers.
    Where the input is several files, `file` stands first, and `line` is the number within it.
    """
    arrow, parquet = import_pyarrow()
    number = arrow.float16() if shape.dtype == "float16" else arrow.float32()
    vector = arrow.list_(number, shape.dim)
    names = vector_columns(shape)
    schema = arrow.schema(
        ([("file", arrow.string())] if shape.files else [])
        + [("line", arrow.int64()), ("text", arrow.string()), ("tokens", arrow.list_(arrow.string()))]
        + [("sentence_starts", arrow.list_(arrow.int32()))]
        + [(name, vector if shape.pooled else arrow.list_(vector)) for name in names]
    )
    # Vectors do not compress, and dictionaries and statistics of floats only cost time.
    written_as = {
        "compression": {"text": "zstd", "tokens.list.element": "zstd"},
        "use_dictionary": ["file", "tokens.list.element"],
        "write_statistics": ["line"],
    }
    with parquet.ParquetWriter(path, schema, **written_as) as writer:
        for group in groups(rows):
            columns: list[Any] = [strings(arrow, [row.file or "" for row in group])] if shape.files else []
            columns += [
                arrow.array([row.line for row in group], arrow.int64()),
                strings(arrow, [row.text for row in group]),
                arrow.ListArray.from_arrays(
                    _offsets(arrow, [len(row.tokens) for row in group]),
                    strings(arrow, [token for row in group for token in row.tokens]),
                ),
                arrow.array([row.sentence_starts for row in group], arrow.list_(arrow.int32())),
            ]
            for n in range(len(names)):
                arrays = [row.vectors if shape.layers is None else row.vectors[n] for row in group]
                columns.append(_vectors(arrow, arrays, vector, shape))
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


def vector_columns(shape: Shape) -> list[str]:
    if shape.layers is not None:
        return [f"layer_{n}" for n in range(shape.layers)]
    return ["vector" if shape.pooled else "vectors"]


def _vectors(arrow: Any, arrays: list[Any], vector: Any, shape: Shape) -> Any:
    flat = np.concatenate([array.reshape(-1) for array in arrays])
    fixed = arrow.FixedSizeListArray.from_arrays(arrow.array(flat), type=vector)
    if shape.pooled:
        return fixed
    return arrow.ListArray.from_arrays(_offsets(arrow, [len(array) for array in arrays]), fixed)


def _offsets(arrow: Any, lengths: list[int]) -> Any:
    return arrow.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def strings(arrow: Any, texts: list[str]) -> Any:
    """Texts as a column."""
    try:
        return arrow.array(texts, arrow.string())
    except UnicodeEncodeError:
        return arrow.array(list(map(_storable, texts)), arrow.string())


def groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows that are written together."""
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += row.vectors.nbytes
        if len(group) == ROWS_IN_GROUP or size >= BYTES_IN_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _storable(text: str) -> str:
    """Parquet holds UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
