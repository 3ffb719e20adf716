"""`elmo index`, and `elmo neighbors`, `info` and `verify` over one."""

import json
from pathlib import Path

import pytest
from tests.apps.cli.conftest import Command

TEXT = "We sat on the river bank.\nThe bank approved my loan. The Bank of England is old.\n\nNobody came.\n"


@pytest.fixture
def index(command: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT, encoding="utf-8")
    done = command("index", "build", "text.txt", "-o", "index", "--layers", "all", "--layers", "mean", "-m", model)
    assert done.code == 0, done.err
    assert "index: 23 uses of 18 words in 4 sentences, layers 0, 1, 2, mean of 16 dimensions" in done.err
    return Path("index")


def test_search_and_neighbors_find_the_same_uses(command: Command, model: Path, index: Path) -> None:
    asked = ["He owes the bank a lot.", "--words", "same", "--model", model]
    done = command("index", "search", index, *asked, "--word", "bank")
    assert done.code == 0, done.err
    assert sorted(line.split("  ")[1] for line in done.out.splitlines()) == ["text.txt:1", "text.txt:2", "text.txt:2"]
    assert all("[bank]" in line or "[Bank]" in line for line in done.out.splitlines())
    assert command("neighbors", "bank", *asked, "--index", index).out == done.out
    plain = command("neighbors", "bank", *asked, "--text", "text.txt").out
    assert [line[8:] for line in plain.splitlines()] == [line[8:] for line in done.out.splitlines()]
    rows = command("index", "search", index, *asked, "--word", "bank", "--layers", "mean", "--centred", "--json")
    found = [json.loads(row) for row in rows.out.splitlines()]
    assert [row["similarity"] for row in found] == sorted((row["similarity"] for row in found), reverse=True)
    assert {row["file"] for row in found} == {"text.txt"}


def test_uses_are_told_in_the_order_of_the_text(command: Command, index: Path) -> None:
    done = command("index", "uses", index, "bank")
    assert done.out.splitlines() == [
        "text.txt:1  We sat on the river [bank] .",
        "text.txt:2  The [bank] approved my loan .",
    ]
    assert done.err == "2 of 2 uses\n"
    rows = [
        json.loads(row) for row in command("index", "uses", index, "bank", "--ignore-case", "--json").out.splitlines()
    ]
    assert [(row["word"], row["line"], row["place"]) for row in rows] == [
        ("Bank", 2, 1),
        ("bank", 1, 5),
        ("bank", 2, 1),
    ]
    missing = command("index", "uses", index, "NOBODY")
    assert missing.code == 2
    assert "'NOBODY' is not among its 18 words; 'Nobody' is (--ignore-case)" in missing.err


def test_another_model_layer_or_text_is_refused_in_a_line(command: Command, model: Path, index: Path) -> None:
    done = command("index", "search", index, "The bank.", "--word", "bank")
    assert done.code == 2
    assert done.err.startswith(f"elmo: index: was made with the model {model} (")
    for refused, why in (
        (["index", "search", index, "The bank.", "--word", "bank", "-m", model, "--layers", "7"], "layer is '7'"),
        (["index", "search", index, "The bank.", "--word", "bank", "-m", model, "--layers", "x"], "layer is 'x'"),
        (["index", "search", index, "The bank.", "--word", "shore", "-m", model], "'shore' is not among the tokens"),
        (["index", "search", "text.txt", "The bank.", "--word", "bank", "-m", model], "is a file and no index"),
        (["neighbors", "bank", "A bank.", "--index", index, "--text", "text.txt", "-m", model], "leave out --text"),
        (["index", "build", "text.txt", "-o", "index", "-m", model], "holds an index already"),
        (["index", "build", "text.txt", "-o", "other", "-m", model, "--words", "empty"], "empty: has no words"),
    ):
        Path("empty").write_text("\n")
        done = command(*refused)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert why in done.err


def test_words_of_a_file_and_so_many_uses_can_be_kept(command: Command, model: Path, index: Path) -> None:
    Path("words").write_text("bank\n\nloan\n", encoding="utf-8")
    made = ["index", "build", "text.txt", "-o", "some", "-m", model, "--words", "words", "--most-uses", "1"]
    assert command(*made, "--store", "int8").code == 0
    facts = json.loads(command("info", "some", "--json").out)
    assert (facts["uses"], facts["store"], facts["only_words"], facts["most_uses"]) == (3, "int8", 2, 1)
    assert command(*made, "--store", "int8", "--resume").code == 0
    assert index.is_dir()


def test_verify_finds_a_changed_file(command: Command, index: Path) -> None:
    done = command("verify", index)
    assert done.code == 0, done.err
    assert "23 uses of 18 words, layers 0, 1, 2, mean" in done.out
    content = bytearray((index / "vectors-1.npy").read_bytes())
    content[-1] ^= 1
    (index / "vectors-1.npy").write_bytes(content)
    done = command("verify", index)
    assert done.code == 1
    assert "vectors-1.npy: sha256 is" in done.err
