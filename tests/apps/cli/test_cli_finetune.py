"""`elmo finetune` as a user meets it: texts that are too little or strange, no gain, what stands in the folder."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from tests.apps.cli.conftest import Command

from elmo.weights.formats import read_model

GOOD = "".join(f"The cat number {n % 7} sat on the mat. It saw the dog number {n % 5}.\n" for n in range(60))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(GOOD, "utf-8")
    return path


def quick(model: Path, out: Path, **settings: str) -> list[object]:
    config = out.with_suffix(".toml")
    rate = settings.pop("rate", "0.01")
    config.write_text(f"dropout = 0.0\n[optimizer]\nkind = 'adam'\nlearning_rate = {rate}\n", "utf-8")
    size = ["--steps", settings.pop("steps", "20"), "--batch-size", "4"]
    return ["-o", out, "--model", model, "--config", config, *size, "--heldout", "0.1", "--device", "cpu"]


def test_what_it_brought_is_printed_and_the_model_is_there(
    command: Command, speaking: Path, text: Path, tmp_path: Path
) -> None:
    done = command("finetune", text, *quick(speaking, tmp_path / "run"))
    assert done.code == 0
    before, after = (line for line in done.out.splitlines() if line.startswith("held-out perplexity"))
    assert "out of vocabulary" in before
    assert float(before.split()[3]) > float(after.split()[3])
    assert "vocabulary: 21, 9 of them new words of the text" in done.out
    tuned = read_model(tmp_path / "run" / "model")
    assert tuned.sha256 != read_model(speaking).sha256
    assert tuned.has_softmax
    assert read_model(tmp_path / "run" / "hdf5").sha256 == tuned.sha256
    assert "the softmax is not written" not in done.err  # nobody asked for it there


def test_without_a_gain_the_start_is_delivered_and_the_status_is_three(
    command: Command, speaking: Path, text: Path, tmp_path: Path
) -> None:
    done = command("finetune", text, *quick(speaking, tmp_path / "run", steps="2", rate="5.0"))
    assert done.code == 3
    assert "held-out text is not predicted better than before: the biLM is left as it was" in done.out
    start = read_model(speaking).sha256
    assert read_model(tmp_path / "run" / "model").sha256 == start
    assert read_model(tmp_path / "run" / "hdf5").sha256 == start


@pytest.mark.parametrize("refused", ["\n\n", "The cat sat on the mat.\n"])
def test_a_text_that_was_refused_does_not_stand_in_the_way_of_the_next(
    command: Command, speaking: Path, text: Path, tmp_path: Path, refused: str
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text(refused, "utf-8")
    assert command("finetune", bad, *quick(speaking, tmp_path / "run")).code == 2
    assert command("finetune", text, *quick(speaking, tmp_path / "run")).code == 0


def test_a_text_of_which_nothing_can_be_held_out_is_refused_and_more_of_it_is_taken(
    command: Command, speaking: Path, text: Path, tmp_path: Path
) -> None:
    one = tmp_path / "one.txt"
    one.write_text("cat " * 200 + "\n", "utf-8")
    done = command("finetune", one, *quick(speaking, tmp_path / "run"))
    assert done.code == 2
    assert f"{one}: of 1 sentence none is held out" in done.err
    assert "give more text, or a larger share (--heldout)" in done.err
    assert not (tmp_path / "run" / "corpus").exists()
    assert command("finetune", text, *quick(speaking, tmp_path / "run")).code == 0


def test_a_corpus_that_was_there_is_not_removed(command: Command, speaking: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.txt"
    one.write_text("cat " * 200 + "\n", "utf-8")
    corpus = tmp_path / "run" / "corpus"
    assert command("corpus", "build", one, "-o", corpus, "--heldout", "0.1").code == 0
    assert command("finetune", one, *quick(speaking, tmp_path / "run")).code == 2
    assert (corpus / "corpus.json").is_file()


@pytest.mark.parametrize(
    "line",
    [
        " ".join(f"qxzv{n}" for n in range(12)) + ".",  # no word that the model knows
        "שלום לכל העולם הזה כי הוא טוב.",
        "cat cat cat cat.",
    ],
)
def test_strange_text_gives_a_whole_model(command: Command, speaking: Path, tmp_path: Path, line: str) -> None:
    strange = tmp_path / "strange.txt"
    strange.write_text(f"{line}\n" * 60, "utf-8")
    done = command("finetune", strange, *quick(speaking, tmp_path / "run"))
    assert done.code in (0, 3)
    model = read_model(tmp_path / "run" / "model")
    assert all(torch.isfinite(p).all() for p in model.bilm.parameters())
    assert command("verify", tmp_path / "run" / "model").code == 0


def test_a_tuning_within_a_task_says_what_it_does_and_the_next_seed_takes_it(
    command: Command, speaking: Path, tmp_path: Path
) -> None:
    names, places = ("Anna", "Tom", "Maria"), ("Oslo", "Lisbon")
    sentences = [
        f"{names[n % 3]} NNP I-NP I-PER\nsaw VBD I-VP O\n{places[n % 2]} NNP I-NP I-LOC\nn{n} CD I-NP O\n. . O O\n"
        for n in range(40)
    ]
    train, dev = tmp_path / "train.txt", tmp_path / "dev.txt"
    train.write_text("\n".join(sentences), "utf-8")
    dev.write_text("\n".join(sentences[:4]), "utf-8")
    small = ["--set", "task.model.hidden=8", "--set", "embedding.words.dim=8", "--epochs", "1", "--device", "cpu"]
    mine = tmp_path / "mine"
    shutil.copytree(speaking, mine)
    said = []
    for seed in ("1", "2"):
        run = ("-o", tmp_path / f"run{seed}", "--seed", seed, "--model", mine, "--cache", tmp_path / "cache")
        done = command("task", "train", "ner", "--train", train, "--dev", dev, "--tune-bilm", *run, *small)
        assert done.code == 0, done.err
        assert "biLM: held-out perplexity of 40 training sentences" in done.out
        said.append(done.err)
    assert "the biLM is tuned on 40 sentences" in said[0]
    assert "held-out perplexity before" in said[0]
    assert "expected: " in said[0]  # the plan with its minutes
    assert "held-out perplexity" not in said[1]
    assert "has the biLM as it was tuned on these sentences before" in said[1]
    written = json.loads((tmp_path / "run2" / "model" / "task.json").read_text("utf-8"))["bilm"]
    assert written["tuning"]["sentences"] == 40
    if written["tuning"]["gained"]:  # then the task model needs neither the start nor the cache
        shutil.rmtree(mine)
    shutil.rmtree(tmp_path / "cache")
    shutil.move(tmp_path / "run2", tmp_path / "elsewhere")
    assert command("task", "predict", tmp_path / "elsewhere", dev, "-o", tmp_path / "out.txt").code == 0
