"""Parquet files whose vectors are written as they are: readers find in them what pyarrow's own files have."""

import io
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from elmo.embed.bulk.writers import parquetfile
from elmo.embed.bulk.writers.columns import groups_of_columns, schema_of
from elmo.embed.bulk.writers.formats import write_whole
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Line, Shape
from elmo.embed.bulk.writers.thrift import dump_struct, parse_struct, varint
from elmo.embed.numbered import running_total


def make_part(lengths: list[int], shape: Shape, *, first: int = 0) -> EmbeddedPart:
    chance = np.random.default_rng(first)
    counts = np.array(lengths)
    tokens, layers = int(counts.sum()), () if shape.layers is None else (shape.layers,)
    size = (len(lengths), *layers, shape.dim) if shape.pooled else (*layers, tokens, shape.dim)
    return EmbeddedPart(
        lines=[Line(first + n, f"text {n} é", "a.txt" if shape.files else None, n) for n in range(len(lengths))],
        words=["the", "bank", "漢字"],
        ids=chance.integers(0, 3, tokens).astype(np.int32),
        first_tokens=running_total(counts),
        sentence_starts=running_total(counts)[:-1][counts > 0],
        first_sentences=running_total((counts > 0).astype(np.int64)),
        pooled=shape.pooled,
        vectors=chance.standard_normal(size).astype(shape.dtype),
    )


SHAPES = [
    Shape(dim=dim, layers=layers, pooled=pooled, dtype=dtype, files=layers is not None)
    for dim, layers, pooled, dtype in [
        (1, None, False, "float32"),
        (2, None, False, "float16"),
        (65, None, False, "float16"),
        (200, 3, False, "float32"),
        (16, None, True, "float16"),
        (1, 2, True, "float32"),
    ]
]
LENGTHS = [[3, 0, 1, 0, 0, 5], [0, 0], [4], [0, 7, 2, 2, 0], [300, 1, 0, 2]]


@pytest.mark.parametrize("page_bytes", [1, 500, 1 << 20])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_a_file_is_the_table_that_it_was_made_of(
    shape: Shape, page_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquetfile, "PAGE_BYTES", page_bytes)
    parts = [make_part(lengths, shape, first=n) for n, lengths in enumerate(LENGTHS)]
    path = tmp_path / "out.parquet"
    write_whole("parquet", parts, path, shape)
    schema = schema_of(shape)
    wanted = pyarrow.Table.from_batches(
        [pyarrow.record_batch(columns, schema=schema) for columns in groups_of_columns(parts, shape)]
    )
    found = pyarrow.parquet.read_table(path)
    found.validate(full=True)
    assert found.schema.equals(wanted.schema)
    assert found.equals(wanted)
    theirs = tmp_path / "theirs.parquet"
    pyarrow.parquet.write_table(wanted, theirs)
    ours = pyarrow.parquet.ParquetFile(path)
    assert ours.schema.equals(pyarrow.parquet.ParquetFile(theirs).schema)
    assert ours.metadata.num_row_groups == len(parts)
    assert ours.metadata.row_group(3).column(int(shape.files)).statistics.max == len(LENGTHS[3]) - 1
    for n, part in enumerate(parts):  # each row group alone too
        assert ours.read_row_group(n)["line"].to_pylist() == [line.line for line in part.lines]


def test_the_bytes_of_vectors_stand_in_the_file_as_they_are(tmp_path: Path) -> None:
    shape = Shape(dim=64, layers=None, pooled=False, dtype="float16", files=False)
    part = make_part([5, 0, 9], shape)
    write_whole("parquet", [part], tmp_path / "out.parquet", shape)
    assert part.vectors.tobytes() in (tmp_path / "out.parquet").read_bytes()


def test_pyarrows_metadata_is_the_same_when_it_was_read_and_written() -> None:
    sink = io.BytesIO()
    table = pyarrow.table({"a": list(range(300)), "b": [["x"] * (n % 3) for n in range(300)]})
    pyarrow.parquet.write_table(table, sink, row_group_size=10)  # more than fifteen row groups: a list's long form
    content = sink.getvalue()
    size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - size : -8]
    assert dump_struct(parse_struct(footer)) == footer


@pytest.mark.parametrize(("number", "wanted"), [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_a_number_takes_seven_bits_a_byte(number: int, wanted: bytes) -> None:
    assert varint(number) == wanted


def test_a_group_of_more_rows_than_pyarrow_has_in_one_is_one(tmp_path: Path) -> None:
    tokens = (1 << 20) + 10  # a single line of so many tokens is never cut
    shape = Shape(dim=1, layers=None, pooled=False, dtype="float16", files=False)
    path = tmp_path / "out.parquet"
    write_whole("parquet-flat", [make_part([tokens], shape)], path, shape)
    table = pyarrow.parquet.read_table(path)
    assert table.num_rows == tokens
    assert table["token"][-1].as_py() == tokens - 1
