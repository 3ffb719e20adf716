"""Arrow's file format (Feather 2): the columns of Parquet, uncompressed, so that libraries map them without a copy."""

from collections.abc import Iterable
from pathlib import Path

from elmo.embed.bulk.writers.columns import groups_of_columns, import_pyarrow, schema_of
from elmo.embed.bulk.writers.part import Part
from elmo.embed.bulk.writers.row import Shape


def write_arrow(parts: Iterable[Part], path: Path, shape: Shape) -> None:
    """One record batch after the other."""
    arrow, _ = import_pyarrow()
    schema = schema_of(shape)
    with arrow.OSFile(str(path), "wb") as sink, arrow.ipc.new_file(sink, schema) as writer:
        for columns in groups_of_columns(parts, shape):
            writer.write_batch(arrow.record_batch(columns, schema=schema))
