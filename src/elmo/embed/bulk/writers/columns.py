"""Rows as columns of Arrow: what Parquet files and Arrow files of vectors have in common. Needs the extra `parquet`."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape
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


def groups_of_columns(parts: Iterable[EmbeddedPart], shape: Shape) -> Iterator[list[Any]]:
    """The columns of the schema, for some lines after others."""
    for part in parts:
        words = word_column(part)
        for group in part.groups():
            yield [*text_columns(group, words, shape), *vector_arrays(group, shape)]


def text_columns(group: EmbeddedPart, words: Any, shape: Shape) -> list[Any]:
    """The columns of the schema but for the vectors; `words` are the distinct ones of its part."""
    arrow, _ = import_pyarrow()
    columns: list[Any] = [strings(arrow, [line.file or "" for line in group.lines])] if shape.files else []
    first_tokens = group.first_tokens
    places = group.sentence_starts - np.repeat(first_tokens[:-1], np.diff(group.first_sentences))
    return [
        *columns,
        arrow.array([line.line for line in group.lines], arrow.int64()),
        strings(arrow, [line.text for line in group.lines]),
        arrow.ListArray.from_arrays(_offsets(arrow, first_tokens), tokens_column(group, words)),
        arrow.ListArray.from_arrays(_offsets(arrow, group.first_sentences), arrow.array(places.astype(np.int32))),
    ]


def word_column(part: EmbeddedPart) -> Any:
    """The words of a part as Arrow has them: once, however many groups it is written in."""
    arrow, _ = import_pyarrow()
    return strings(arrow, part.words)


def tokens_column(group: EmbeddedPart, words: Any) -> Any:
    """The tokens of all lines, of the `word_column` of their part."""
    arrow, _ = import_pyarrow()
    return words.take(arrow.array(group.ids))


def vector_arrays(group: EmbeddedPart, shape: Shape) -> list[Any]:
    """The columns of vectors."""
    arrow, _ = import_pyarrow()
    vector = vector_type(shape)
    columns = []
    for n in range(shape.layers or 1):
        fixed = arrow.FixedSizeListArray.from_arrays(
            arrow.array(vectors_of_layer(group, n, shape).reshape(-1)), type=vector
        )
        columns.append(
            fixed if shape.pooled else arrow.ListArray.from_arrays(_offsets(arrow, group.first_tokens), fixed)
        )
    return columns


def vectors_of_layer(group: EmbeddedPart, number: int, shape: Shape) -> npt.NDArray[Any]:
    """The vectors of one layer, contiguous: [tokens, D], or [lines, D] when pooled."""
    if shape.layers is None:
        return np.ascontiguousarray(group.vectors)
    return np.ascontiguousarray(group.vectors[:, number] if shape.pooled else group.vectors[number])


def vector_type(shape: Shape) -> Any:
    """One vector as Arrow has it."""
    arrow, _ = import_pyarrow()
    return arrow.list_(arrow.float16() if shape.dtype == "float16" else arrow.float32(), shape.dim)


def vector_columns(shape: Shape) -> list[str]:
    """The columns of vectors by name."""
    if shape.layers is not None:
        return [f"layer_{n}" for n in range(shape.layers)]
    return ["vector" if shape.pooled else "vectors"]


def _offsets(arrow: Any, starts: npt.NDArray[np.int64]) -> Any:
    return arrow.array(starts.astype(np.int32))


def strings(arrow: Any, texts: list[str]) -> Any:
    """Texts as a column."""
    try:
        return arrow.array(texts, arrow.string())
    except UnicodeEncodeError:
        return arrow.array(list(map(_storable, texts)), arrow.string())


def _storable(text: str) -> str:
    """Parquet holds UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
