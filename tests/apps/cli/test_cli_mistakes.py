"""Mistakes that would lose or falsify something are refused, with the cure; what is only unusual is said."""

from pathlib import Path

import numpy as np
import pytest
from tests.apps.cli.conftest import Command

from elmo.weights.formats import read_model

SAMPLES = Path(__file__).parent.parent.parent / "tasks" / "samples"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "texts" / "text.txt"
    path.parent.mkdir()
    path.write_text("A cat sat .\nA dog sat .\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("output", "options", "said"),
    [
        ("texts/out.jsonl", [], "lies in the directory that is read"),
        ("-", ["--format", "npz"], "standard output has JSON lines"),
        ("out.npz", ["--workers", "3"], "--workers is for --engine ray"),
        ("out.jsonl", ["--engine", "ray"], "writes a new directory of Parquet files"),
        ("out.npz", ["--layers", "-4"], "from the top, -1 to -3"),
        ("out.npz", ["--device", "mps"], "must be 'cpu', 'cuda' or 'cuda:N'"),
        ("folder", ["--format", "jsonl", "--overwrite"], "is a directory; name a file"),
    ],
)
def test_embed_refuses(
    command: Command, model: Path, text: Path, tmp_path: Path, output: str, options: list[str], said: str
) -> None:
    (tmp_path / "folder").mkdir()
    target = output if output == "-" else tmp_path / output
    done = command("embed", text.parent, "-o", target, "--model", model, *options)
    assert done.code == 2
    assert said in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "texts"]


def test_a_text_is_not_replaced_by_its_vectors(command: Command, model: Path, text: Path) -> None:
    done = command("embed", text, "-o", text, "--format", "jsonl", "--overwrite", "--model", model)
    assert (done.code, "is the text that is read" in done.err) == (2, True)
    assert text.read_text("utf-8").startswith("A cat")


def test_a_nul_is_seen_in_npz(command: Command, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "nul.txt"
    source.write_bytes(b"a \x00 b\n")
    assert command("embed", source, "-o", tmp_path / "n.npz", "--tokenized", "--model", model).code == 0
    assert np.load(tmp_path / "n.npz")["0.tokens"].tolist() == ["a", "\N{SYMBOL FOR NULL}", "b"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--with-softmax"], "has no softmax to keep"),
        (["--softmax-to", "softmax.safetensors"], "has no softmax to keep"),
        (["--card", "nowhere.md"], "nowhere.md"),
        (["--to", "onnx", "--storage", "int8"], "--storage: an ONNX file has no place for that"),
    ],
)
def test_convert_refuses_what_it_cannot_do(
    command: Command, model: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    done = command("convert", model, tmp_path / "new", *options)
    assert done.code == 2
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_convert_does_not_replace_what_it_reads(command: Command, model: Path, tmp_path: Path) -> None:
    assert command("convert", model, tmp_path / "copy").code == 0
    done = command("convert", tmp_path / "copy", tmp_path / "copy", "--overwrite")
    assert (done.code, "is the model that is read" in done.err) == (2, True)


def test_a_converted_model_says_of_its_card_that_it_is_the_originals(command: Command, tmp_path: Path) -> None:
    assert command("convert", "english", tmp_path / "half", "--storage", "float16").code == 0
    assert command("convert", tmp_path / "half", tmp_path / "again").code == 0
    card = read_model(tmp_path / "again").card
    assert card is not None
    assert card.count("is of the original; this is float16") == 1


def test_a_run_goes_on_with_its_own_options(command: Command, text: Path, tmp_path: Path) -> None:
    text.write_text("A cat sat on a mat .\n" * 300, encoding="utf-8")
    assert command("corpus", "build", text, "-o", tmp_path / "corpus", "--tokenized").code == 0
    first = ["pretrain", tmp_path / "corpus", "-o", tmp_path / "run", "--device", "cpu"]
    size = ["--size", "tiny", "--steps", "3", "--batch-size", "4"]
    assert command(*first, *size, "--time-limit", "0").code == 0
    done = command(*first, "--resume")
    assert done.code == 0, done.err
    assert "finished at step 3" in done.out
    assert "give one of them" in command(*first, *size, "--epochs", "1").err
    assert "holds no checkpoint yet" in command(*first[:3], tmp_path / "new", *size, "--resume", "--device", "cpu").out


def test_a_vocabulary_that_came_out_empty_is_chosen_anew(command: Command, text: Path, tmp_path: Path) -> None:
    build = ["corpus", "build", text, "-o", tmp_path / "corpus", "--tokenized"]
    assert "give a smaller min_count" in command(*build, "--min-count", "50").err
    done = command(*build, "--min-count", "1", "--resume")
    assert done.code == 0, done.err


def test_a_text_is_no_corpus(command: Command, text: Path, tmp_path: Path) -> None:
    done = command("pretrain", text, "-o", tmp_path / "run")
    assert f"is a file and no corpus; make one with `elmo corpus build {text}" in done.err


def test_a_run_is_no_file(command: Command, text: Path, tmp_path: Path) -> None:
    text.write_text("A cat sat on a mat .\n" * 300, encoding="utf-8")
    assert command("corpus", "build", text, "-o", tmp_path / "corpus", "--tokenized").code == 0
    done = command("pretrain", tmp_path / "corpus", "-o", text, "--size", "tiny", "--steps", "1", "--device", "cpu")
    assert (done.code, "is a file, but a run is a directory" in done.err) == (2, True)


def test_labels_that_training_lacks_are_named(command: Command, tmp_path: Path) -> None:
    train, dev = tmp_path / "train.txt", tmp_path / "dev.txt"
    train.write_text("good\tA fine film .\nbad\tA poor film .\n" * 4, encoding="utf-8")
    dev.write_text("fair\tA film .\ngood\tA fine film .\n", encoding="utf-8")
    options = ["--epochs", "2", "--device", "cpu", "--elmo", "none", "-o", tmp_path / "run"]
    done = command("task", "train", "classification", "--train", train, "--dev", dev, *options)
    assert done.code == 0, done.err
    assert done.err.count("dev: 1 label(s) that training does not have, never answered: 'fair'") == 1
    done = command("task", "evaluate", tmp_path / "run", dev, "--device", "cpu")
    assert done.code == 0, done.err
    assert f"{dev}: 1 label(s)" in done.err
