"""A task's training killed at its file operations: resumed, it leaves what an undisturbed one leaves."""

import sys
from pathlib import Path

import pytest
import torch
from tests.killing import contents, points, run

from elmo.tasks.recipes import find_recipe
from elmo.tasks.training.trainer import train_task

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot fork"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU, gradients need threads, which a fork lacks"),
]

EXAMPLES = "Anna B-PER\nwent O\n\nBob B-PER\nsat O\n\nLisbon B-LOC\nis O\n\n"


def test_a_killed_training_resumes_to_what_an_undisturbed_one_leaves(tmp_path: Path) -> None:
    (tmp_path / "examples.txt").write_text(EXAMPLES)
    changes = {"embedding.elmo.where": "none", "embedding.words.dim": 4, "task.model.hidden": 4}
    changes |= {"train.epochs": 1, "train.batch_size": 2, "train.checkpoint_minutes": 0.0}
    recipe = find_recipe("ner").changed(changes)
    examples = recipe.make_task().read(str(tmp_path / "examples.txt"))

    def train(folder: Path, *, resume: bool) -> str:
        return train_task("ner", recipe, examples, examples, folder, resume=resume, device="cpu").status

    straight = tmp_path / "straight"
    done = run(lambda: train(straight, resume=False), within=straight)
    assert done.result == "finished", done.error
    for n in points(len(done.operations), most=4):
        folder = tmp_path / f"killed-{n}"
        assert run(lambda: train(folder, resume=False), within=folder, kill_at=n).killed  # noqa: B023
        again = run(lambda: train(folder, resume=True), within=folder)  # noqa: B023
        assert again.result == "finished", again.error
        assert contents(folder).keys() == contents(straight).keys(), done.operations[n]
        assert contents(folder)["model/model.safetensors"] == contents(straight)["model/model.safetensors"]
