"""A directory as input: every row says which file and line it is from, whatever the format and the engine."""

import json
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet
import pytest

import elmo.embed.bulk.parts as bulk_parts
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.ray_engine import EmbedShard, plan
from elmo.embed.embedder import Embedder

PLACES = [("a.txt", 0, "one here"), ("a.txt", 1, ""), ("sub/b.txt", 0, "two"), ("sub/b.txt", 1, "and three")]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one here\n\n")
    (folder / "empty.txt").write_text("")
    (folder / "sub" / "b.txt").write_text("two\nand three\n")
    return folder


@pytest.fixture
def places(texts: Path) -> list[tuple[str, int, str]]:
    return [(str(texts / name), line, text) for name, line, text in PLACES]


@pytest.mark.parametrize("parts", [4096, 1])
def test_json_lines_and_parquet_have_the_file_and_its_own_line_numbers(
    embedder: Embedder, texts: Path, places: list[tuple[str, int, str]], parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_parts, "LINES_IN_PART", parts)
    for name in ("out.jsonl", "out.parquet"):
        output = texts.parent / name
        embed_file(embedder, str(texts), str(output), options=BulkOptions())
        if name == "out.jsonl":
            rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
        else:
            rows = pyarrow.parquet.read_table(output).to_pylist()
        assert [(row["file"], row["line"], row["text"]) for row in rows] == places
        assert list(rows[0]) == ["file", "line", "text", "tokens", "sentence_starts", "vectors"]


def test_hdf5_numbers_lines_through_and_has_the_place_as_attributes(
    embedder: Embedder, texts: Path, places: list[tuple[str, int, str]]
) -> None:
    output = texts.parent / "out.hdf5"
    embed_file(embedder, str(texts), str(output), options=BulkOptions())
    with h5py.File(output) as file:
        assert list(file) == ["0", "1", "2", "3", "sentence_to_index"]
        found = [(file[str(n)].attrs["file"], file[str(n)].attrs["line"]) for n in range(4)]
    assert found == [place[:2] for place in places]


def test_npz_numbers_lines_through_and_says_where_each_file_starts(
    embedder: Embedder, texts: Path, places: list[tuple[str, int, str]]
) -> None:
    output = texts.parent / "out.npz"
    embed_file(embedder, str(texts), str(output), options=BulkOptions())
    with np.load(output, allow_pickle=False) as file:
        files, starts = file["files"], file["file_starts"]
        for n, (name, line, text) in enumerate(places):
            k = np.searchsorted(starts, n, side="right") - 1
            assert (files[k], n - starts[k]) == (name, line)
            assert list(file[f"{n}.tokens"]) == text.split()


def test_one_file_has_no_file_column(embedder: Embedder, texts: Path) -> None:
    for name in ("out.jsonl", "out.parquet"):
        embed_file(embedder, str(texts / "a.txt"), str(texts.parent / name), options=BulkOptions())
    row = json.loads((texts.parent / "out.jsonl").read_text("utf-8").splitlines()[0])
    assert list(row) == ["line", "text", "tokens", "sentence_starts", "vectors"]
    assert pyarrow.parquet.read_table(texts.parent / "out.parquet").column_names == list(row)


def test_a_shard_of_ray_has_the_columns_of_a_local_run(
    model_directory: Path, embedder: Embedder, texts: Path, tmp_path: Path
) -> None:
    settings = {"name_or_path": str(model_directory), "device": "cpu"}
    for source in (texts, texts / "a.txt"):
        folder = tmp_path / f"shards-{source.name}"
        folder.mkdir()
        embed_file(embedder, str(source), str(folder / "local.parquet"), options=BulkOptions())
        worker = EmbedShard(str(folder), settings, BulkOptions(), 1, source=str(source))
        shards = plan(str(source), lines_in_shard=1)
        for shard in shards:
            worker(vars(shard))
        made = [pyarrow.parquet.read_table(folder / shard.name) for shard in shards]
        assert pyarrow.concat_tables(made).equals(pyarrow.parquet.read_table(folder / "local.parquet"))
