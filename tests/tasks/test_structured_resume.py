"""Roles and coreference go on bit for bit where training was broken off, with all that is drawn at random."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe

from elmo.tasks.training.learner import Learner
from elmo.tasks.training.trainer import train_task
from elmo.weights.loaded import LoadedModel

# What is random in the training of a task, besides the order of its examples.
RANDOM: dict[str, dict[str, Any]] = {
    "roles": {"task__model__dropout": 0.3, "task__model__embedding_dropout": 0.3},
    "coreference": {"task__model__dropout": 0.3, "task__model__unit_dropout": 0.3, "task__model__sentences": 1},
}
STRUCTURED = {name: sample for name, sample in SAMPLES_OF_TASKS.items() if sample.task in RANDOM}


@pytest.mark.parametrize("sample", STRUCTURED.values(), ids=STRUCTURED.keys())
@pytest.mark.parametrize("stop_at", [2, 5])
def test_a_task_goes_on_bit_for_bit(
    sample: Sample, stop_at: int, model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"train__epochs": 2, "train__batch_size": 3, "embedding__elmo__dropout": 0.2, **RANDOM[sample.task]}
    recipe = small_recipe(sample, **changes)
    task = recipe.make_task()
    examples, dev = task.read(str(sample.train)), task.read(str(sample.dev))

    def train(name: str, *, resume: bool = False) -> str:
        run = tmp_path / name
        return train_task(sample.task, recipe, examples, dev, run, model=model, device="cpu", resume=resume).status

    assert train("straight") == "finished"
    step, steps = Learner.step, []

    def interrupting(self: Any, rows: Any, number: int) -> torch.Tensor:
        steps.append(number)
        if len(steps) == stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, rows, number)

    monkeypatch.setattr(Learner, "step", interrupting)
    assert train("broken") == "interrupted"
    assert train("broken", resume=True) == "finished"
    assert steps == list(range(len(steps)))
    both = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("straight", "broken")]
    assert both[0] == both[1]
