"""Files written before the modules had their present names: they load, and what was begun goes on as it would have."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from elmo.apps.cli.main import main

FIRST = Path(__file__).parent / "golden" / "first-layout"
TASK = (
    *("--train", "ner-train.txt", "--dev", "ner-dev.txt", "-m", "model", "--epochs", "10", "--rate", "0.05"),
    *("--seed", "5", "--device", "cpu", "--set", "task.model.hidden=4", "--set", "task.model.dropout=0.0"),
    *("--set", "embedding.words.dim=4", "--set", "embedding.characters.dim=1"),
    *("--set", "embedding.characters.filters=4"),
)
RESUMED = 1e-3  # other processors round otherwise, and every step is built on those before; on the same one: equal bits
CLOCKS = ("seconds", "symbols_per_second")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to work in, as the present folder."""
    copy = shutil.copytree(FIRST, tmp_path / "first")
    monkeypatch.chdir(copy)
    return copy


@pytest.mark.parametrize("name", ["corpus", "model", "run/checkpoints/step-00000003"])
def test_a_corpus_store_a_model_and_a_checkpoint_are_sound(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(folder / name)]) == 0, capsys.readouterr().err


def test_the_perplexity_of_the_model_is_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perplexity", str(folder / "corpus"), "--model", "model", "--state", "carry"]) == 0
    found = re.search(r"([0-9.]+) \(forward ([0-9.]+), backward ([0-9.]+)", capsys.readouterr().out)
    assert found is not None
    assert [float(number) for number in found.groups()] == pytest.approx([107.85, 111.55, 104.28], rel=RESUMED)


def test_a_training_run_goes_on_to_the_same_model(folder: Path) -> None:
    assert main(["pretrain", "corpus", "-o", "run", "--device", "cpu", "--resume"]) == 0
    _assert_same_metrics(folder / "run", folder / "finished-metrics.jsonl")
    _assert_same_tensors(folder / "run" / "model", folder / "model")


def test_a_run_with_muon_goes_on(folder: Path) -> None:
    """Not to the same numbers: Muon makes its steps orthogonal by other rounds since."""
    assert main(["pretrain", "corpus", "-o", "muon-run", "--device", "cpu", "--resume"]) == 0
    lines = [json.loads(line) for line in (folder / "muon-run" / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in lines] == [2, 3, 4, 4, 6, 8, 8]
    assert lines[2]["sampled_loss"] == pytest.approx(3.4225, rel=RESUMED)  # of the weights and momenta that were saved


def test_a_task_run_goes_on_to_the_same_model(folder: Path) -> None:
    assert main(["task", "train", "ner", "-o", "task-run", "--batch-size", "2", *TASK, "--resume"]) == 0
    _assert_same_metrics(folder / "task-run", folder / "task-finished-metrics.jsonl")
    _assert_same_tensors(folder / "task-run" / "model", folder / "task-model")


def test_a_task_run_with_another_option_does_not_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["task", "train", "ner", "-o", str(folder / "task-run"), "--batch-size", "3", *TASK, "--resume"]) != 0
    assert "task-run: was begun otherwise" in capsys.readouterr().err


def test_a_task_model_answers_as_it_did(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["task", "predict", "task-model", "ner-dev.txt", "-m", "model", "--device", "cpu"]) == 0
    assert capsys.readouterr().out.rstrip() == (folder / "task-answers.txt").read_text(encoding="utf-8").rstrip()


def _assert_same_metrics(run: Path, wanted: Path) -> None:
    lines, expected = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (run / "metrics.jsonl", wanted)
    )
    assert [(line["kind"], line["step"]) for line in lines] == [(line["kind"], line["step"]) for line in expected]
    for line, want in zip(lines, expected, strict=True):
        assert _numbers(line) == pytest.approx(_numbers(want), rel=RESUMED), want["step"]


def _numbers(line: dict[str, Any]) -> dict[str, float]:
    mixes = {f"layer {n}": weight for n, weight in enumerate(line.get("mixes", {}).get("input", {}).get("layers", []))}
    return mixes | {name: value for name, value in line.items() if name not in ("kind", "mixes", *CLOCKS)}


def _assert_same_tensors(model: Path, wanted: Path) -> None:
    found, expected = (load_file(path / "model.safetensors") for path in (model, wanted))
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert (found[name] - tensor).abs().max() <= RESUMED * max(1.0, float(tensor.abs().max())), name
