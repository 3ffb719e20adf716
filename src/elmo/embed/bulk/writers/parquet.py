"""Parquet: one row a line; `tokens` and, for each token, a vector of fixed size. Needs the extra `parquet`."""

from collections.abc import Iterable
from pathlib import Path

from elmo.embed.bulk.writers.columns import groups_of_rows, import_pyarrow, schema_of
from elmo.embed.bulk.writers.row import Row, Shape


def write_parquet(rows: Iterable[Row], path: Path, shape: Shape) -> None:
    """The columns that `schema_of` says, a row group after the other."""
    arrow, parquet = import_pyarrow()
    schema = schema_of(shape)
    # Vectors do not compress, and dictionaries and statistics of floats only cost time.
    written_as = {
        "compression": {"text": "zstd", "tokens.list.element": "zstd"},
        "use_dictionary": ["file", "tokens.list.element"],
        "write_statistics": ["line"],
    }
    with parquet.ParquetWriter(path, schema, **written_as) as writer:
        for columns in groups_of_rows(rows, shape):
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
