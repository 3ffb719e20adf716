"""Steps in fixed shapes, on a CPU, where nothing is recorded: what they learn is what the packed steps learn."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe
from tests.tolerances import assert_near
from torch import Tensor

from elmo.tasks.training import learner as learner_module
from elmo.tasks.training.learner import Learner
from elmo.weights.loaded import LoadedModel

CAPTURED = ["ner", "pos", "classification", "classification of lines", "roles", "entailment", "questions"]
DROPOUT = {"task__model__dropout": 0.3, "embedding__elmo__dropout": 0.2}
Patch = pytest.MonkeyPatch


def make_learner(sample: Sample, model: LoadedModel | None, **changes: Any) -> Learner:
    recipe = small_recipe(sample, **changes)
    task = recipe.make_task()
    examples = task.training_examples(task.read(str(sample.train)))
    return Learner(
        sample.task, recipe, task, examples, task.read(str(sample.dev)), model=model, reference=None, vectors=None,
        device=torch.device("cpu"), store=None,
    )  # fmt: skip


def on_a_cpu_too(patch: Patch) -> None:
    patch.setattr(learner_module, "reason_against_fixed_steps", lambda *_: None)


def pair(sample: Sample, model: LoadedModel, monkeypatch: Patch, **changes: Any) -> tuple[Learner, Learner]:
    """The same learner twice: in fixed shapes and packed."""
    with monkeypatch.context() as patch:
        on_a_cpu_too(patch)
        fixed = make_learner(sample, model, **changes)
    packed = make_learner(sample, model, **changes)
    assert fixed.fixed is not None
    assert packed.fixed is None
    return fixed, packed


def gradients(learner: Learner) -> dict[str, Tensor]:
    return {name: p.grad for name, p in learner.learning.items() if p.grad is not None}


@pytest.mark.parametrize("name", CAPTURED)
@pytest.mark.parametrize("where", ["none", "both"])
def test_loss_and_all_gradients_are_those_of_packed_texts(
    name: str, where: str, model: LoadedModel, monkeypatch: Patch
) -> None:
    sample = SAMPLES_OF_TASKS[name]
    given = None if where == "none" else model
    fixed, packed = pair(sample, given, monkeypatch, embedding__elmo__where=where, train__clip=None)
    assert fixed.model.can_be_captured
    for step, rows in enumerate(np.array_split(np.arange(len(fixed.data)), 3)):
        assert fixed.fixed is not None
        packed.model.load_state_dict(fixed.model.state_dict())
        losses = [learner.step(rows, step) for learner in (fixed, packed)]
        assert fixed.fixed._taken, "the batch went the packed way"
        assert_near(*losses, dtype=torch.float32, name="loss")
        found, wanted = gradients(fixed), gradients(packed)
        assert found.keys() == wanted.keys() == fixed.learning.keys()
        # Together, since some parts have gradients that are rounding and nothing else.
        assert_near(
            torch.cat([found[n].flatten() for n in wanted]),
            torch.cat([wanted[n].flatten() for n in wanted]),
            dtype=torch.float32,
            name="gradients",
        )
