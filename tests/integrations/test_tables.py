"""Parquet and Arrow files of vectors as DuckDB, Polars and pandas read them: the numbers that pyarrow reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from tests.embed.bulk.writers.test_parquetfile import LENGTHS, SHAPES, make_part

from elmo.embed.bulk.writers import parquetfile
from elmo.embed.bulk.writers.formats import write_whole
from elmo.embed.bulk.writers.row import Shape

pytestmark = pytest.mark.integration


def numbers(vectors: Any) -> np.ndarray:
    """A line's vectors, or its one vector, as float32 in a row."""
    return np.array([np.asarray(vector, np.float32) for vector in vectors], np.float32).ravel()


@pytest.mark.parametrize("page_bytes", [1, 500, 1 << 20])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("library", ["duckdb", "polars", "pandas"])
def test_other_libraries_read_what_pyarrow_reads(
    library: str, shape: Shape, page_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = pytest.importorskip(library)
    monkeypatch.setattr(parquetfile, "PAGE_BYTES", page_bytes)
    path = tmp_path / "out.parquet"
    write_whole("parquet", [make_part(lengths, shape, first=n) for n, lengths in enumerate(LENGTHS)], path, shape)
    wanted = pyarrow.parquet.read_table(path).to_pydict()
    if library == "duckdb":
        found = module.sql(f"select * from '{path}'").to_arrow_table().to_pydict()
    elif library == "polars":
        found = module.read_parquet(path).to_dict(as_series=False)
    else:
        found = {name: column.tolist() for name, column in module.read_parquet(path).items()}
    assert_same(found, wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("library", ["duckdb", "polars", "pandas"])
def test_other_libraries_read_arrow_files_too(library: str, shape: Shape, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    if library == "duckdb" and shape.dtype == "float16":
        pytest.skip("DuckDB takes no float16 from Arrow; from Parquet it does")
    path = tmp_path / "out.arrow"
    write_whole("arrow", [make_part(lengths, shape, first=n) for n, lengths in enumerate(LENGTHS)], path, shape)
    with pyarrow.memory_map(str(path)) as mapped:
        lines = pyarrow.ipc.open_file(mapped).read_all()
        wanted = lines.to_pydict()
        if library == "duckdb":
            found = module.sql("select * from lines").to_arrow_table().to_pydict()
        elif library == "polars":
            found = module.read_ipc(path).to_dict(as_series=False)
        else:
            found = {name: column.tolist() for name, column in module.read_feather(path).items()}
    assert_same(found, wanted)


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(found) == list(wanted)
    for name, column in wanted.items():
        for ours, theirs in zip(column, found[name], strict=True):
            if name.startswith(("vector", "layer")):
                np.testing.assert_array_equal(numbers(ours), numbers(theirs))
            else:
                assert (list(theirs) if isinstance(ours, list) else theirs) == ours
