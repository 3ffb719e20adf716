"""`elmo reproduce`: what can be made is listed, what there is data for is made, the rest is said."""

from pathlib import Path

import pytest
from tests.apps.cli.conftest import Command
from tests.reproduce.conftest import SAMPLES, SETTINGS

from elmo.reproduce.runs import read_runs


def test_the_list_says_what_is_needed(command: Command) -> None:
    done = command("reproduce", "--list")
    assert done.code == 0
    for name in (*(f"table{n}" for n in range(1, 8)), "figure1", "figure2", "https://rajpurkar.github.io"):
        assert name in done.out


def test_an_unknown_name_is_refused(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "table9", "-o", tmp_path / "out")
    assert (done.code, done.err.partition(";")[0]) == (2, "elmo: there is nothing named 'table9' to make")


def test_a_folder_of_data_that_is_not_there_is_refused(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "table1", "--data", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert (done.code, "nowhere: is no folder; --data names" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.timeout(600)  # the packaged model, on a machine that may be busy
def test_a_quick_look_needs_no_data(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("reproduce", "--quick", "-o", out, "--cache", tmp_path / "cache", "--device", "cpu")
    assert done.code == 0, done.err
    text, page = ((out / name).read_text("utf-8") for name in ("report.md", "report.html"))
    for told in (
        "Table 4",
        "Table 5 in small",
        "Table 6 in small",
        "Figure 2",
        "squad (SQuAD 1.1, question answering): no folder",
    ):
        assert told in text
    assert page.startswith("<!DOCTYPE html>")
    row = next(line for line in text.splitlines() if line.startswith("| 20 words, 160 sentences"))
    tokens, first, second = (float(cell) for cell in row.split("|")[2:5])
    assert tokens == 50.0  # without context a guess is all there is
    assert min(first, second) > 90
    senses = next(line for line in text.splitlines() if line.startswith("| 25 other words"))
    shares = [float(cell) for cell in senses.split("|")[2:5]]
    assert shares == sorted(shares)
    assert {run["arm"] for run in read_runs([out / "runs"])} == {"input", "both", "output"}
    before = read_runs([out / "runs"])
    again = command("reproduce", "figure2", "-o", out, "--cache", tmp_path / "cache", "--device", "cpu")
    assert "3 runs, 0 to be made" in again.out
    assert read_runs([out / "runs"]) == before


def test_a_folder_of_data_gives_what_it_has(command: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text(SETTINGS + MISSING, encoding="utf-8")
    out = tmp_path / "out"
    done = command(
        "reproduce", "table1", "table6", "table5", "--data", SAMPLES, "--settings", tmp_path / "sets.toml",
        "--model", model, "-o", out, "--cache", tmp_path / "cache", "--device", "cpu", "--seeds", 1, "--quick",
    )  # fmt: skip
    assert done.code == 0, done.err
    text = (out / "report.md").read_text("utf-8")
    assert "- pairs (pairs): " in text
    assert "nowhere.jsonl is not there. It can be had at https://example.org" in text
    runs = read_runs([out / "runs"])
    assert {(run["set"], run["kind"]) for run in runs} == {
        ("names", "search"), ("names", "task"), ("tags", "probe"), ("wsd", "senses"),
    }  # fmt: skip
    assert {run["fraction"] for run in runs if run["kind"] == "task"} == {0.1}
    assert "ELMo helps on all six tasks (Table 1)" in text
    failed = command(
        "reproduce", "table7", "--data", SAMPLES, "--settings", tmp_path / "sets.toml", "--model", model, "-o", out,
        "--cache", tmp_path / "cache", "--device", "cpu", "--seeds", 1, "--only", "names",
    )  # fmt: skip
    assert failed.code == 1
    assert "failed: names: tuned seed 1: the training examples have 8 different sentences" in failed.err


MISSING = """
[pairs]
title = "pairs"
task = "entailment"
train = "nowhere.jsonl"
dev = "nowhere.jsonl"
test = "nowhere.jsonl"
metric = "accuracy"
where = "https://example.org"
"""


def test_table_4_is_made_of_an_index_beside_static_vectors(command: Command, model: Path, tmp_path: Path) -> None:
    text = "The actors rehearsed the play .\nA quick play ended the game .\nNobody saw the sea .\n"
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    (tmp_path / "glove.txt").write_text("play 1 0\ngame 2 0.1\nsea -1 0\n", encoding="utf-8")
    index = tmp_path / "index"
    built = command("index", "build", tmp_path / "text.txt", "-o", index, "--tokenized", "--model", model)
    assert built.code == 0, built.err
    out = tmp_path / "out"
    options = ["--index", index, "--vectors", tmp_path / "glove.txt", "--model", model, "--device", "cpu", "-o", out]
    done = command("reproduce", "table4", *options)
    assert done.code == 0, done.err
    told = (out / "report.md").read_text("utf-8")
    assert "3 sentences" in told
    assert "| static vectors (glove.txt) | game, sea |" in told
    assert "text.txt, line" in told
    assert "multiplayer" in told  # the paper's


def test_a_table_that_cannot_be_made_costs_the_others_nothing(command: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("sea 1 0\nstone 2 0.1\n", encoding="utf-8")
    out = tmp_path / "out"
    options = ["--vectors", tmp_path / "glove.txt", "--model", model, "--device", "cpu", "-o", out]
    done = command("reproduce", "table4", "table6", *options)
    assert done.code == 1
    assert "table4: the static vectors have no word 'play'" in done.err
    assert "Table 6 in small" in (out / "report.md").read_text("utf-8")


def test_word2vec_is_trained_on_the_same_text(command: Command, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="the extra `word2vec` is not installed")
    out = tmp_path / "out"
    done = command("reproduce", "table4", "--word2vec", "--model", model, "--device", "cpu", "-o", out)
    assert done.code == 0, done.err
    assert "| word2vec, of the same text |" in (out / "report.md").read_text("utf-8")
    # That of an index is read from it, as often as gensim goes over it.
    (tmp_path / "text.txt").write_text("we play a game\nthey play a tune\nwe saw a play\n", encoding="utf-8")
    built = command("index", "build", tmp_path / "text.txt", "-o", tmp_path / "index", "--model", model)
    assert built.code == 0, built.err
    options = ["--index", tmp_path / "index", "--word2vec", "--model", model, "--device", "cpu", "-o", out]
    done = command("reproduce", "table4", *options)
    assert done.code == 0, done.err
    row = next(line for line in (out / "report.md").read_text("utf-8").splitlines() if "| word2vec" in line)
    assert set(row.split("|")[2].strip().split(", ")) == {"we", "a", "game", "they", "tune", "saw"}
