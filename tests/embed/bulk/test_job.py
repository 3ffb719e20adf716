"""Bulk embedding: formats, alignment of lines and rows, atomic files, resuming after a kill."""

import contextlib
import json
import os
import random
import re
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import elmo.embed.bulk.parts as bulk_parts
from elmo.disk.locking import locked
from elmo.embed.bulk.job import BulkResult, embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.writers.formats import FORMATS, SUFFIXES, OutputFormat
from elmo.embed.bulk.writers.row import Row
from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.errors import ConfigError, ElmoError, MissingExtraError, ResumeError

LINES = [
    "I sat on the river bank .",
    "",
    "The bank approved my loan .",
    "naïve 漢字 😀",
    "I sat on the river bank .",
    "Yes",
]


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write(tmp_path / "text.txt", LINES)


def expected(embedder: Embedder, layers: object = "mean") -> list[np.ndarray]:
    return embedder.encode([line.split() for line in LINES], layers=layers)


def run(embedder: Embedder, source: str, output: Path, **arguments: object) -> BulkResult | None:
    options = BulkOptions(**{"tokenized": True, **arguments.pop("options", {})})
    return embed_file(embedder, source, str(output), options=options, **arguments)


def test_allennlp_hdf5_has_a_dataset_a_line_and_the_index_of_sentences(
    embedder: Embedder, source: str, tmp_path: Path
) -> None:
    output = tmp_path / "out.hdf5"
    done = run(embedder, source, output, options={"layers": "all"})
    assert (done.lines, done.tokens) == (6, 24)
    with h5py.File(output) as file:
        assert list(file) == ["0", "1", "2", "3", "4", "5", "sentence_to_index"]
        for n, vectors in enumerate(expected(embedder, "all")):
            assert file[str(n)].dtype == np.float32
            np.testing.assert_allclose(file[str(n)][...], vectors, atol=1e-5)
            assert [t.decode() if isinstance(t, bytes) else t for t in file[str(n)].attrs["tokens"]] == LINES[n].split()
        assert file["1"].shape == (3, 0, 16)
        index = json.loads(file["sentence_to_index"][0])
        assert index == {LINES[4]: "4", "": "1", LINES[2]: "2", LINES[3]: "3", LINES[5]: "5"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.hdf5", "text.txt"]


def test_bilm_hdf5_has_datasets_only(embedder: Embedder, source: str, tmp_path: Path) -> None:
    output = tmp_path / "out.hdf5"
    run(embedder, source, output, output_format="hdf5-bilm", options={"layers": "all"})
    with h5py.File(output) as file:
        assert [int(name) for name in file] == list(range(6))


def test_a_line_of_many_tokens_fits_into_hdf5(embedder: Embedder, tmp_path: Path) -> None:
    source = write(tmp_path / "long.txt", ["word " * 9000])
    run(embedder, source, tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["0"].shape == (9000, 16)
        assert len(file["0"].attrs["tokens"]) == 9000


def test_parquet_has_a_row_a_line(embedder: Embedder, source: str, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    run(embedder, source, output)
    table = pyarrow.parquet.read_table(output).to_pylist()
    assert [row["line"] for row in table] == list(range(6))
    assert [row["text"] for row in table] == LINES
    for row, line, vectors in zip(table, LINES, expected(embedder), strict=True):
        assert row["tokens"] == line.split()
        np.testing.assert_allclose(np.array(row["vectors"]).reshape(-1, 16), vectors, atol=1e-5)


def test_parquet_of_all_layers_in_half_precision_has_a_column_a_layer(
    embedder: Embedder, source: str, tmp_path: Path
) -> None:
    output = tmp_path / "out.parquet"
    run(embedder, source, output, options={"layers": "all", "dtype": "float16"})
    table = pyarrow.parquet.read_table(output)
    assert table.column_names == ["line", "text", "tokens", "sentence_starts", "layer_0", "layer_1", "layer_2"]
    assert str(table.schema.field("layer_2").type.value_type.value_type) == "halffloat"
    for n, vectors in enumerate(expected(embedder, "all")):
        for k in range(3):
            stored = np.array(table[f"layer_{k}"][n].as_py(), dtype=np.float32).reshape(-1, 16)
            np.testing.assert_allclose(stored, vectors[k], atol=2e-3)


def test_pooled_parquet_has_one_vector_a_line(embedder: Embedder, source: str, tmp_path: Path) -> None:
    run(embedder, source, tmp_path / "out.parquet", options={"pooling": "mean"})
    stored = np.array(pyarrow.parquet.read_table(tmp_path / "out.parquet")["vector"].to_pylist())
    np.testing.assert_allclose(stored, embedder.encode([line.split() for line in LINES], pooling="mean"), atol=1e-5)


def test_npz_has_an_array_a_line(embedder: Embedder, source: str, tmp_path: Path) -> None:
    run(embedder, source, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz", allow_pickle=False) as file:
        for n, vectors in enumerate(expected(embedder)):
            np.testing.assert_allclose(file[str(n)], vectors, atol=1e-5)
            assert list(file[f"{n}.tokens"]) == LINES[n].split()


def test_jsonl_has_an_object_a_line(embedder: Embedder, source: str, tmp_path: Path) -> None:
    run(embedder, source, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [row["tokens"] for row in rows] == [line.split() for line in LINES]
    np.testing.assert_allclose(rows[0]["vectors"], expected(embedder)[0], atol=1e-5)


def test_standard_output_gets_json_lines(embedder: Embedder, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert embed_file(embedder, source, "-", options=BulkOptions()).lines == 6
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["line"] for row in rows] == list(range(6))


def test_an_empty_file_gives_an_empty_output(embedder: Embedder, tmp_path: Path) -> None:
    source = write(tmp_path / "empty.txt", [])
    for suffix in SUFFIXES:
        assert run(embedder, source, tmp_path / f"out{suffix}").lines == 0
        assert (tmp_path / f"out{suffix}").exists()


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), max_size=8))
def test_every_line_has_its_row_whatever_it_holds(
    embedder: Embedder, tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    source = folder / "text.txt"
    source.write_bytes("".join(line + "\n" for line in lines).encode("utf-8"))
    embed_file(embedder, str(source), str(folder / "out.jsonl"), options=BulkOptions())
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    assert texts == [line.removeprefix("\ufeff") if n == 0 else line for n, line in enumerate(lines)]
    for row in rows:
        sentences = [words for words in embedder.model.tokenizer.sentence_words(row["text"]) if words]
        assert row["tokens"] == [word for words in sentences for word in words]
        assert [row["tokens"][n] for n in row["sentence_starts"]] == [words[0] for words in sentences]
        assert len(row["vectors"]) == len(row["tokens"])


def test_the_sentences_of_a_line_are_embedded_apart_and_every_format_says_where_they_start(
    embedder: Embedder, tmp_path: Path
) -> None:
    source = write(tmp_path / "text.txt", ["The bank is closed. We went home.", "", "Yes"])
    vectors = np.concatenate(embedder.encode(["The bank is closed.", "We went home."]))
    starts = [[0, 5], [], [0]]
    for suffix in (".hdf5", ".parquet", ".npz", ".jsonl"):
        run(embedder, source, tmp_path / f"out{suffix}", options={"tokenized": False})
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert rows[0]["tokens"] == ["The", "bank", "is", "closed", ".", "We", "went", "home", "."]
    np.testing.assert_allclose(rows[0]["vectors"], vectors, atol=1e-5)
    assert [row["sentence_starts"] for row in rows] == starts
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table["sentence_starts"].to_pylist() == starts
    with h5py.File(tmp_path / "out.hdf5") as file:
        assert [file[str(n)].attrs["sentence_starts"].tolist() for n in range(3)] == starts
    with np.load(tmp_path / "out.npz") as file:
        assert [file[f"{n}.sentence_starts"].tolist() for n in range(3)] == starts


def test_a_line_can_be_taken_for_one_sentence(embedder: Embedder, tmp_path: Path) -> None:
    source = write(tmp_path / "text.txt", ["We sat. We left."])
    run(embedder, source, tmp_path / "out.jsonl", options={"tokenized": False, "split_sentences": False})
    (row,) = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert (row["tokens"], row["sentence_starts"]) == (["We", "sat.", "We", "left", "."], [0])


@pytest.mark.parametrize("state", ["settled", "carry"])
@pytest.mark.parametrize("suffix", [known.suffixes[0] for known in FORMATS.values() if known.suffixes])
def test_a_resumed_run_gives_what_an_uninterrupted_one_gives(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, suffix: str
) -> None:
    monkeypatch.setattr(bulk_parts, "LINES_IN_PART", 10)
    words = [f"w{n}" for n in range(50)]
    chooser = random.Random(0)
    lines = [" ".join(chooser.choices(words, k=chooser.randrange(8))) for _ in range(95)]
    source = write(tmp_path / "text.txt", lines)
    embedder = load(model_directory, device="cpu", state=state)
    run(embedder, source, tmp_path / f"straight{suffix}", options={"batch_size": 4})

    real, calls = Embedder.embed_numbered, []

    def interrupted(self: Embedder, *arguments: object, **options: object) -> object:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(self, *arguments, **options)

    output = tmp_path / f"resumed{suffix}"
    monkeypatch.setattr(Embedder, "embed_numbered", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(embedder, source, output, options={"batch_size": 4})
    assert not output.exists()
    with pytest.raises(ResumeError, match=r"--resume"):
        run(embedder, source, output, options={"batch_size": 4})
    run(embedder, source, output, options={"batch_size": 4}, resume=True)
    assert len(calls) == 5 + 6, "finished parts were computed again, or some were left out"
    assert contents(output) == contents(tmp_path / f"straight{suffix}")
    assert not output.with_name(output.name + ".parts").exists()


def contents(path: Path) -> object:
    """What a file holds, without times and addresses that its format records."""
    if path.suffix == ".hdf5":
        with h5py.File(path) as file:
            return [
                (
                    name,
                    str(item[...].tolist()),
                    str([list(item.attrs.get(key, ())) for key in ("tokens", "sentence_starts")]),
                )
                for name, item in file.items()
            ]
    if path.suffix == ".npz":
        with np.load(path) as file:
            return [(name, file[name].tobytes()) for name in file]
    return path.read_bytes()


def test_a_changed_input_or_option_is_not_resumed(
    embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_parts, "LINES_IN_PART", 2)
    source = write(tmp_path / "text.txt", LINES)
    output = tmp_path / "out.jsonl"
    monkeypatch.setitem(FORMATS, "jsonl", OutputFormat(write=fail))
    with pytest.raises(ElmoError, match=r"out\.jsonl: cannot be written: disk full"):
        run(embedder, source, output)
    assert not output.exists()
    with pytest.raises(ResumeError, match=r"options\.layers was 'mean' and is 'top' now"):
        run(embedder, source, output, options={"layers": "top"}, resume=True)
    with pytest.raises(ResumeError, match=r"options\.split_sentences was True and is False now"):
        run(embedder, source, output, options={"split_sentences": False}, resume=True)
    write(tmp_path / "text.txt", ["changed", *LINES[1:]])
    with pytest.raises(ResumeError, match="the input has changed"):
        run(embedder, source, output, resume=True)


def test_two_runs_do_not_write_the_same_output(embedder: Embedder, source: str, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    folder = tmp_path / "out.jsonl.parts"
    folder.mkdir()
    (folder / "job.json").write_text("{}")
    with locked(folder / "lock", busy=lambda: None):
        for again in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(ResumeError, match=r"out.jsonl.parts: another process is at work on this output"):
                run(embedder, source, output, **again)
    assert (folder / "job.json").read_text() == "{}"
    assert run(embedder, source, output, overwrite=True).lines == len(LINES)
    assert not folder.exists()


def fail(rows: Iterable[Row], *_: object) -> None:
    assert list(rows)
    raise OSError("disk full")


def test_an_existing_output_is_kept_unless_told_otherwise(embedder: Embedder, source: str, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("precious")
    with pytest.raises(ResumeError, match="--overwrite"):
        run(embedder, source, output)
    assert output.read_text() == "precious"
    run(embedder, source, output, overwrite=True)
    assert output.read_text() != "precious"


def test_an_unknown_suffix_is_refused(embedder: Embedder, source: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot tell the format from '\.csv'"):
        run(embedder, source, tmp_path / "out.csv")


def test_overwriting_leaves_a_folder_alone_that_is_not_ours(embedder: Embedder, source: str, tmp_path: Path) -> None:
    folder = tmp_path / "out.npz.parts"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    with pytest.raises(ResumeError, match="was not made by `elmo embed`"):
        run(embedder, source, tmp_path / "out.npz", overwrite=True)
    assert (folder / "precious.txt").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_sees_lines_with_rate_and_time_left_and_a_pipe_one_line_at_the_end(
    model_directory: Path, tmp_path: Path
) -> None:
    import fcntl
    import pty
    import termios

    source = write(tmp_path / "text.txt", [f"word{n % 100} and more" for n in range(3_000)])
    code = "import sys; from elmo.apps.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "embed", source, "-m", str(model_directory), "--tokenized", "-o"]
    done = subprocess.run([*command, str(tmp_path / "a.npz")], capture_output=True, check=True)
    last = rb"a\.npz: 3,000 lines, 9,000 tokens, one vector a token, 16 dimensions \([\d.]+ s, [\d,]+ tokens/s\)\n"
    assert re.search(rb"^\S*" + last + b"$", done.stderr)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))  # a new one has no columns to draw in
    environment = {**os.environ, "TQDM_MININTERVAL": "0"}  # drawn at each step, however fast they are
    process = subprocess.Popen([*command, str(tmp_path / "b.npz")], stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # the other end is closed when the process ends
        while block := os.read(ours, 4096):
            seen += block
    os.close(ours)
    assert process.wait() == 0
    shares = {int(share) for share in re.findall(rb"(\d+)%", seen)}
    assert {0, 100} <= shares
    assert len(shares) > 2, "nothing was seen between the beginning and the end"
    assert re.search(rb"[\d,]+ lines \[\d+:\d+<\d+:\d+, [\d,]+ tokens/s\]", seen)
    assert re.search(
        rb"100%\S* 3,000 lines \[[^\r\n]*\r\n\S*b\.npz: 3,000 lines, 9,000 tokens", seen.replace(b"| ", b" ")
    )


def test_a_missing_pyarrow_is_noticed_before_anything_is_computed(
    embedder: Embedder, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(Embedder, "embed_numbered", lambda *_, **__: pytest.fail("something was computed"))
    with pytest.raises(
        MissingExtraError, match=r"Parquet and Arrow need pyarrow; install it with: pip install pyarrow$"
    ):
        run(embedder, source, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
