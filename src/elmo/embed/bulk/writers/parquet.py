"""Parquet: one row a line; `tokens` and, for each token, a vector of fixed size. Needs the extra `parquet`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from elmo.embed.bulk.writers.columns import layer_of, schema_of, text_columns, vector_columns
from elmo.embed.bulk.writers.parquetfile import ParquetStream
from elmo.embed.bulk.writers.part import Part
from elmo.embed.bulk.writers.row import Shape

TEXT_WRITTEN_AS: Final[dict[str, Any]] = {
    "compression": {"text": "zstd", "tokens.list.element": "zstd"},
    "use_dictionary": ["file", "tokens.list.element"],
    "write_statistics": ["line"],
}


def write_parquet(parts: Iterable[Part], path: Path, shape: Shape) -> None:
    """The columns that `schema_of` says, a row group after the other."""
    with open(path, "wb") as file:
        stream = ParquetStream(file, schema_of(shape), vectors=vector_columns(shape), written_as=TEXT_WRITTEN_AS)
        for group in (group for part in parts for group in part.groups()):
            vectors = [layer_of(group, n, shape) for n in range(shape.layers or 1)]
            counts = np.ones(len(group), np.int64) if shape.pooled else np.diff(group.first_tokens)
            stream.write(text_columns(group, shape), vectors, counts)
        stream.finish()
