"""Rows as columns of Arrow: what Parquet files and Arrow files of vectors have in common. Needs the extra `parquet`."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from elmo.embed.bulk.writers.row import Row, Shape, in_groups
from elmo.errors import MissingExtraError


def import_pyarrow() -> tuple[Any, Any]:
    """The package and its Parquet module; a job asks for them before it computes anything."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet and Arrow need pyarrow; install it with: pip install pyarrow") from error
    return pyarrow, pyarrow.parquet


def schema_of(shape: Shape) -> Any:
    """Columns: `line`, `text`, `tokens`, `sentence_starts` and `vectors`.

    The last is `vector` when pooled, and `layer_0`, `layer_1`, ... for all layers.
    Where the input is several files, `file` stands first, and `line` is the number within it.
    """
    arrow, _ = import_pyarrow()
    vector = vector_type(shape)
    return arrow.schema(
        ([("file", arrow.string())] if shape.files else [])
        + [("line", arrow.int64()), ("text", arrow.string()), ("tokens", arrow.list_(arrow.string()))]
        + [("sentence_starts", arrow.list_(arrow.int32()))]
        + [(name, vector if shape.pooled else arrow.list_(vector)) for name in vector_columns(shape)]
    )


def groups_of_rows(rows: Iterable[Row], shape: Shape) -> Iterator[list[Any]]:
    """The columns of the schema, for some rows after others."""
    arrow, _ = import_pyarrow()
    vector = vector_type(shape)
    for group in in_groups(rows):
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
        for n in range(shape.layers or 1):
            arrays = [row.vectors if shape.layers is None else row.vectors[n] for row in group]
            columns.append(_vectors(arrow, arrays, vector, shape))
        yield columns


def vector_type(shape: Shape) -> Any:
    """One vector as Arrow has it."""
    arrow, _ = import_pyarrow()
    return arrow.list_(arrow.float16() if shape.dtype == "float16" else arrow.float32(), shape.dim)


def vector_columns(shape: Shape) -> list[str]:
    """The columns of vectors by name."""
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


def _storable(text: str) -> str:
    """Parquet holds UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
