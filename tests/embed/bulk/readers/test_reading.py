"""Files of vectors read back: every format gives what was embedded, line by line and token by token."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.readers.reading import read_vectors
from elmo.embed.bulk.writers import part
from elmo.embed.bulk.writers.formats import FORMATS
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError

SUFFIXES = [known.suffixes[0] for known in FORMATS.values() if known.suffixes]
MAPPED = [".safetensors", ".arrow"]
TEXTS = {
    "a.txt": ["We sat. We left.", "", "naïve 漢字 😀", "The bank approved my loan ."],
    "b.txt": ["Yes", "I sat on the river bank ."],
}
LINES = [(file, n, text) for file, texts in TEXTS.items() for n, text in enumerate(texts)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    for name, lines in TEXTS.items():
        (place / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return place


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "ROWS_IN_GROUP", 4)


@pytest.mark.parametrize("options", [{}, {"layers": "all"}, {"pooling": "mean"}, {"layers": "all", "pooling": "max"}])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lines_come_back_as_they_were_embedded(
    embedder: Embedder, folder: Path, tmp_path: Path, suffix: str, dtype: str, options: dict[str, str]
) -> None:
    output = tmp_path / f"out{suffix}"
    embed_file(embedder, str(folder), str(output), options=BulkOptions(**options, dtype=dtype))
    wanted, tokens = embedder.encode([text for *_, text in LINES], **options, return_tokens=True)
    with read_vectors(output) as lines:
        assert len(lines) == len(LINES)
        assert [line.number for line in lines] == list(range(6))
        for line, vectors, words, (file, number, text) in zip(lines, wanted, tokens, LINES, strict=True):
            assert (line.file, line.line) == (str(folder / file), number)
            assert line.text == (None if suffix in (".hdf5", ".npz") else text)
            assert (line.tokens, line.sentence_starts) == (words.words, words.sentence_starts)
            np.testing.assert_array_equal(line.vectors, vectors.astype(dtype).astype(line.vectors.dtype))
        assert [line.tokens for line in lines[4:]] == [lines[4].tokens, lines[-1].tokens]
        rows = [
            v[np.newaxis] if "pooling" in options else v.transpose(1, 0, 2) if v.ndim == 3 else v
            for v in (line.vectors for line in lines)
        ]
        every = np.concatenate(rows)
        assert int(lines.line_starts[-1]) == len(every)
        for start, stop in ((0, len(every)), (3, 3), (2, 5), (5, len(every))):
            np.testing.assert_array_equal(lines.token_vectors(start, stop), every[start:stop])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_one_text_has_no_names_and_an_empty_one_no_lines(
    embedder: Embedder, folder: Path, tmp_path: Path, suffix: str
) -> None:
    (tmp_path / "empty.txt").write_text("")
    for source, count in ((folder / "b.txt", 2), (tmp_path / "empty.txt", 0)):
        output = tmp_path / f"{source.stem}{suffix}"
        embed_file(embedder, str(source), str(output), options=BulkOptions())
        with read_vectors(output) as lines:
            assert [(line.file, line.line) for line in lines] == [(None, n) for n in range(count)]
            assert int(lines.line_starts[-1]) == sum(len(line.tokens) for line in lines)
            with pytest.raises(IndexError, match=f"line {count} is asked for, but there are {count}"):
                lines[count]
            with pytest.raises(IndexError, match="tokens 0 to 100 are asked for"):
                lines.token_vectors(0, 100)


@pytest.mark.parametrize("suffix", MAPPED)
def test_vectors_of_mapped_files_are_views_and_not_copies(
    embedder: Embedder, folder: Path, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"out{suffix}"
    embed_file(embedder, str(folder), str(output), options=BulkOptions())
    lines = read_vectors(output)
    first, again = lines[0].vectors, lines[0].vectors
    assert first.__array_interface__["data"][0] == again.__array_interface__["data"][0]
    assert not first.flags.writeable
    assert np.shares_memory(first, again)


@pytest.mark.parametrize(("suffix", "times"), [(".arrow", 2), (".parquet", 6)])
def test_a_mapped_group_is_checked_once_and_of_decoded_ones_one_is_kept(
    embedder: Embedder, folder: Path, tmp_path: Path, suffix: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / f"out{suffix}"
    embed_file(embedder, str(folder), str(output), options=BulkOptions())
    lines = read_vectors(output)
    read = []
    monkeypatch.setattr(
        lines,
        "_read_group",
        lambda number, read_group=lines._read_group: (  # type: ignore[attr-defined]
            read.append(number) or read_group(number)
        ),
    )
    for number in (0, 5, 1, 4, 2, 5):  # of groups of 4 and 2 lines
        assert lines[number].text == LINES[number][2]
    assert read == [0, 1, 0, 1, 0, 1][:times]


def test_other_programs_read_the_safetensors_file(embedder: Embedder, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.safetensors"
    embed_file(embedder, str(folder / "b.txt"), str(output), options=BulkOptions())
    arrays = safetensors.numpy.load_file(output)
    vectors, starts = arrays["vectors"], arrays["line_starts"]
    np.testing.assert_array_equal(vectors[starts[1] : starts[2]], embedder.encode([TEXTS["b.txt"][1]])[0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_anywhere_is_refused_in_one_line_or_read_in_part(
    embedder: Embedder, folder: Path, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"out{suffix}"
    embed_file(embedder, str(folder), str(output), options=BulkOptions())
    content = output.read_bytes()
    messages = []
    for cut in range(0, len(content), max(1, len(content) // 40)):
        output.write_bytes(content[:cut])
        try:
            with read_vectors(output) as lines:
                _ = list(lines), lines.line_starts
        except InputError as error:
            messages.append(str(error))
    assert all(str(output) in message and "\n" not in message for message in messages)
    assert messages or suffix == ".jsonl"


def test_places_outside_of_the_file_are_refused(embedder: Embedder, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.safetensors"
    embed_file(embedder, str(folder), str(output), options=BulkOptions())
    content = bytearray(output.read_bytes())
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    place = 8 + length + header["line_starts"]["data_offsets"][0]
    for value in (-1, 1 << 40):
        content[place + 8 : place + 16] = struct.pack("<q", value)
        output.write_bytes(content)
        lines = read_vectors(output)
        with pytest.raises(InputError, match="the file is damaged"):
            lines[0]


def test_a_table_of_tokens_is_refused_with_what_reads_it(embedder: Embedder, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    embed_file(embedder, str(folder), str(output), options=BulkOptions(), output_format="parquet-flat")
    with pytest.raises(InputError, match="has a row for each token"):
        read_vectors(output)


def test_an_unknown_name_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot tell the format from '\.vectors'"):
        read_vectors(tmp_path / "out.vectors")
    for suffix in SUFFIXES:
        with pytest.raises(InputError, match="cannot be opened"):
            read_vectors(tmp_path / f"missing{suffix}")
