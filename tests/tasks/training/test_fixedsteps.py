"""Steps in fixed shapes, on a CPU, where nothing is recorded: what they learn is what the packed steps learn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe
from tests.tolerances import assert_near
from torch import Tensor

from elmo.ops import crf
from elmo.run.metrics import read_metrics
from elmo.tasks.training import learner as learner_module
from elmo.tasks.training.fixedsteps import MOST_POSITIONS, fixed_shape
from elmo.tasks.training.learner import Learner
from elmo.tasks.training.trainer import train_task
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


def read_losses(run: Path) -> list[dict[str, Any]]:
    return [line for line in read_metrics(run) if line["kind"] == "train"]


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


def test_texts_are_padded_to_a_few_shapes() -> None:
    def shape(*lengths: list[int]) -> tuple[int, ...] | None:
        return fixed_shape([np.array(own) for own in lengths])

    assert shape([1, 3]) == (8,)
    assert shape([8, 9]) == (16,)
    assert shape([65]) == (80,)
    assert shape([113, 4]) == (128,)
    assert shape([3, 3], [17, 2]) == (16, 32)
    assert len({shape([length]) for length in range(1, 129)}) == 12
    assert shape([MOST_POSITIONS]) == (MOST_POSITIONS,)
    assert shape([MOST_POSITIONS, 1]) is None


def test_a_batch_that_is_too_large_is_packed(model: LoadedModel, monkeypatch: Patch) -> None:
    fixed, packed = pair(SAMPLES_OF_TASKS["ner"], model, monkeypatch, **DROPOUT)
    monkeypatch.setattr("elmo.tasks.training.fixedsteps.MOST_POSITIONS", 1)
    for step in range(3):
        losses = [learner.step(np.arange(4), step) for learner in (fixed, packed)]
        assert torch.equal(*losses)
    for a, b in zip(fixed.learning.values(), packed.learning.values(), strict=True):
        assert torch.equal(a, b)


def test_steps_that_lose_a_path_are_taken_anew_with_all_that_follow(model: LoadedModel, monkeypatch: Patch) -> None:
    """As if the CRF had lost something in step 3, all steps are what they are without it."""
    sound, lost = (pair(SAMPLES_OF_TASKS["ner"], model, monkeypatch, **DROPOUT)[0] for _ in range(2))
    rows = np.arange(4)
    losses: list[list[Tensor]] = []
    for learner in (sound, lost):
        losses.append([])
        for step in range(6):
            with monkeypatch.context() as patch:
                if learner is lost and step == 3:
                    patch.setattr(crf, "LOST", 1e9)
                losses[-1].append(learner.step(rows, step))
    before = [float(loss) for loss in losses[1]]
    weights = {name: p.clone() for name, p in lost.learning.items()}
    lost.settle()
    assert before[:3] == [float(loss) for loss in losses[0][:3]]
    assert before[4] != float(losses[0][4]), "a step was taken on weights that lack the one before"
    assert torch.equal(torch.stack(losses[1]), torch.stack(losses[0]))
    for name, p in sound.learning.items():
        assert torch.equal(p, lost.learning[name])
    assert any(not torch.equal(weights[name], p) for name, p in lost.learning.items())
    lost.settle()  # there is nothing more to do
    assert all(torch.equal(p, lost.learning[name]) for name, p in sound.learning.items())


def test_loss_and_checkpoint_know_nothing_of_a_step_that_is_not_sound(
    model: LoadedModel, tmp_path: Path, monkeypatch: Patch
) -> None:
    """A CRF that always loses a path, and one that never does: the same run, epoch by epoch."""
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=2, **DROPOUT)
    task = recipe.make_task()
    train, dev = task.read(str(sample.train)), task.read(str(sample.dev))
    on_a_cpu_too(monkeypatch)
    results = []
    for name, least in (("sound", crf.LOST), ("lost", 1e9)):
        monkeypatch.setattr(crf, "LOST", least)
        results.append(train_task("ner", recipe, train, dev, tmp_path / name, model=model, device="cpu"))
    histories = [[entry["loss"] for entry in read_losses(result.run)] for result in results]
    assert histories[0] == pytest.approx(histories[1], rel=1e-4)
    assert results[0].scores == pytest.approx(results[1].scores, abs=0.1)


def test_a_run_goes_on_in_the_other_way_and_says_what_it_goes_by(
    model: LoadedModel, tmp_path: Path, monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    """Checkpoints of packed steps and of steps in fixed shapes are alike."""
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=4, train__checkpoint_minutes=0.0)
    task = recipe.make_task()
    train, dev = task.read(str(sample.train)), task.read(str(sample.dev))

    def go(run: str, way: bool, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            if way:
                on_a_cpu_too(patch)
            changed = recipe.changed({"train.cuda_graphs": way})
            return train_task("ner", changed, train, dev, tmp_path / run, model=model, device="cpu", **options)

    with caplog.at_level("INFO"):
        straight = go("straight", False)
    assert caplog.text.count("not recorded as a CUDA graph: the device is no GPU") == 1
    for first in (True, False):
        step = Learner.step

        def stopping(self: Learner, rows: Any, number: int) -> Tensor:
            if number == 5:
                raise KeyboardInterrupt
            return step(self, rows, number)  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(Learner, "step", stopping)
            with pytest.raises(KeyboardInterrupt):
                go(f"run{first}", first)
        assert (tmp_path / f"run{first}" / "checkpoint").is_dir()
        result = go(f"run{first}", not first, resume=True)
        assert result.done
        found, wanted = (read_losses(r.run)[-1]["loss"] for r in (result, straight))
        assert found == pytest.approx(wanted, rel=1e-3)
