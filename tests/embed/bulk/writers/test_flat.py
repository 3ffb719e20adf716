"""Parquet with one row a token."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError

LINES = ["I sat on the bank .", "", "naïve 漢字 😀", "Yes"]


def flat(embedder: Embedder, source: Path, output: Path, **options: object) -> pyarrow.Table:
    wanted = BulkOptions(**{"tokenized": True, **options})
    embed_file(embedder, str(source), str(output), options=wanted, output_format="parquet-flat")
    return pyarrow.parquet.read_table(output)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def test_a_row_is_a_token_with_its_line_and_place(embedder: Embedder, source: Path, tmp_path: Path) -> None:
    table = flat(embedder, source, tmp_path / "out.parquet")
    assert table.column_names == ["line", "token", "word", "vector"]
    wanted = [(n, k, word) for n, line in enumerate(LINES) for k, word in enumerate(line.split())]
    assert list(zip(*(table[name].to_pylist() for name in ("line", "token", "word")), strict=True)) == wanted
    vectors = np.concatenate(embedder.encode([line.split() for line in LINES]))
    np.testing.assert_allclose(np.array(table["vector"].to_pylist()), vectors, atol=1e-5)
    assert table.schema.field("vector").type.list_size == embedder.dim


def test_all_layers_are_columns_and_files_are_named(embedder: Embedder, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("Yes\n\n")
    (texts / "b.txt").write_text("\nNo .\n")
    table = flat(embedder, texts, tmp_path / "out.parquet", layers="all", dtype="float16")
    assert table.column_names == ["file", "line", "token", "word", "layer_0", "layer_1", "layer_2"]
    places = list(zip(table["file"].to_pylist(), table["line"].to_pylist(), table["word"].to_pylist(), strict=True))
    assert places == [(str(texts / "a.txt"), 0, "Yes"), (str(texts / "b.txt"), 1, "No"), (str(texts / "b.txt"), 1, ".")]
    vectors = embedder.encode([["No", "."]], layers="all")[0]
    for n in range(3):
        np.testing.assert_allclose(np.array(table[f"layer_{n}"].to_pylist()[1:]), vectors[n], atol=2e-3)


def test_an_empty_text_has_no_rows_and_pooled_lines_no_tokens(embedder: Embedder, source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    assert flat(embedder, tmp_path / "empty.txt", tmp_path / "empty.parquet").num_rows == 0
    with pytest.raises(ConfigError, match="a row of parquet-flat is a token, but pooling gives one vector a line"):
        flat(embedder, source, tmp_path / "out.parquet", pooling="mean")
