"""The task models on a GPU: bf16 training, the same answers as on the CPU, resumption, recorded steps, the CRF."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe
from tests.tolerances import assert_near, relative_error
from torch import Tensor

from elmo.ops import crf
from elmo.ops.crf import Chain, crf_best_path, crf_loss
from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.task import Batch, Unwaited
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.fixedsteps import FixedSteps
from elmo.tasks.training.learner import Learner
from elmo.tasks.training.trainer import train_task
from elmo.weights.loaded import LoadedModel

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
ALL = pytest.mark.parametrize("sample", SAMPLES_OF_TASKS.values(), ids=SAMPLES_OF_TASKS.keys())


@ALL
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_task_learns_on_a_gpu_and_answers_alike_on_a_cpu(
    sample: Sample, precision: str, model: LoadedModel, tmp_path: Path
) -> None:
    recipe = small_recipe(sample, train__epochs=60, train__precision=precision, embedding__elmo__where="both")
    task = recipe.make_task()
    eight = task.read(str(sample.train))[:8]
    result = train_task(sample.task, recipe, eight, eight, tmp_path / "run", model=model, device="cuda")
    assert result.scores[task.metric] == 100.0
    assert load_trained_task(tmp_path / "run", device="cpu").predict(eight) == [e.answer for e in eight]


def test_a_run_stopped_on_a_gpu_goes_on(model: LoadedModel, tmp_path: Path) -> None:
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=3, train__checkpoint_minutes=0.0)
    task = recipe.make_task()
    train, dev = task.read(str(sample.train)), task.read(str(sample.dev))
    first = train_task("ner", recipe, train, dev, tmp_path / "run", model=model, device="cuda", time_limit=0.0)
    assert not first.done
    store = LayerStore(CacheConfig(folder=tmp_path / "cache", memory=0))
    assert train_task(
        "ner", recipe, train, dev, tmp_path / "run", model=model, device="cuda", store=store, resume=True
    ).done


CAPTURED = ["ner", "pos", "classification", "classification of lines", "roles", "entailment", "questions"]
DROPOUT = {"task__model__dropout": 0.3, "embedding__elmo__dropout": 0.2}
CLASSIFIER_DROPOUT = {"task__model__embedding_dropout": 0.3, "embedding__elmo__dropout": 0.2}


def make_learner(sample: Sample, model: LoadedModel, **changes: Any) -> Learner:
    recipe = small_recipe(sample, embedding__elmo__where="both", **changes)
    task = recipe.make_task()
    examples = task.training_examples(task.read(str(sample.train)))
    return Learner(
        sample.task, recipe, task, examples, task.read(str(sample.dev)), model=model, reference=None, vectors=None,
        device=torch.device("cuda"), store=None,
    )  # fmt: skip


def adam(learner: Learner, kind: str) -> Tensor:
    """What Adam has summed up, of all parameters; its first moment is the gradients, after one step."""
    return torch.cat([learner.optimizer.state[p][kind].flatten() for p in learner.learning.values()])


@torch.no_grad()
def take_over(learner: Learner, other: Learner) -> None:
    """The weights and Adam's state of another learner, in the places that are there."""
    for name, p in learner.learning.items():
        p.copy_(other.learning[name])
        for kind, value in other.optimizer.state[other.learning[name]].items():
            learner.optimizer.state[p][kind].copy_(value)


def fixed_of(learner: Learner) -> FixedSteps:
    assert learner.fixed is not None
    return learner.fixed


@pytest.mark.parametrize("name", CAPTURED)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_recorded_step_is_the_one_that_is_not_recorded(name: str, precision: str, model: LoadedModel) -> None:
    dropout = CLASSIFIER_DROPOUT if name.startswith("classification") else DROPOUT
    changes = {**dropout, "train__precision": precision}
    recorded, eager = (make_learner(SAMPLES_OF_TASKS[name], model, **changes) for _ in range(2))
    fixed_of(eager)._record_more = False
    batches = [np.arange(4) + 4 * n for n in range(len(recorded.data) // 4)]
    bits, worst = [], 0.0
    for step in range(6 * len(batches)):
        rows = batches[step % len(batches)]
        ours, theirs = recorded.step(rows, step), eager.step(rows, step)
        pairs = [(ours, theirs), *((adam(recorded, k), adam(eager, k)) for k in ("exp_avg", "exp_avg_sq", "step"))]
        bits.append(all(torch.equal(a, b) for a, b in pairs))
        worst = max(worst, *(relative_error(a, b) for a, b in pairs))
        take_over(eager, recorded)
    assert fixed_of(recorded).recorded
    assert not fixed_of(eager).recorded
    print(f"{name} {precision}: {sum(bits)} of {len(bits)} steps bit for bit, worst relative error {worst:.1e}")
    assert worst < 2e-5
    assert fixed_of(recorded)._record_more, "a shape could not be recorded"


@pytest.mark.parametrize("name", CAPTURED)
def test_steps_in_fixed_shapes_learn_what_packed_ones_learn(
    name: str, model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    fixed = make_learner(SAMPLES_OF_TASKS[name], model, train__precision="float32", train__clip=None)
    packed = make_learner(
        SAMPLES_OF_TASKS[name], model, train__precision="float32", train__clip=None, train__cuda_graphs=False
    )
    assert packed.fixed is None
    rows = np.arange(len(fixed.data))
    losses = [learner.step(rows, 0) for learner in (fixed, packed)]
    assert_near(*losses, dtype=torch.float32, name="loss")
    assert_near(adam(fixed, "exp_avg"), adam(packed, "exp_avg"), dtype=torch.float32, name="gradients")


def test_recorded_steps_that_lose_a_path_are_taken_anew(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the CRF had lost something in every step from the fifth on, those are what they are without it."""
    sample = SAMPLES_OF_TASKS["ner"]
    sound, lost = (make_learner(sample, model, train__precision="float32", **DROPOUT) for _ in range(2))
    rows = np.arange(4)
    losses = []
    for learner in (sound, lost):
        with monkeypatch.context() as patch:
            losses.append([])
            for step in range(9):
                if learner is lost and step == 5:
                    fixed_of(lost)._graphs.clear()
                    fixed_of(lost)._pool = None
                    patch.setattr(crf, "LOST", 1e9)
                losses[-1].append(learner.step(rows, step))
            learner.settle()
    assert_near(torch.stack(losses[1]), torch.stack(losses[0]), dtype=torch.float32, name="losses")
    assert int(adam(lost, "step")[0]) == 9
    assert fixed_of(lost).recorded


def test_a_step_that_cannot_be_recorded_is_taken_all_the_same(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A model that says wrongly that it waits for nothing."""
    waiting, honest = (make_learner(SAMPLES_OF_TASKS["ner"], model, **DROPOUT) for _ in range(2))
    ask = waiting.model.loss_without_waiting

    def asking(batch: Batch) -> Unwaited:
        found = ask(batch)
        return found._replace(loss=found.loss * (1.0 if float(found.loss.detach()) > -1 else 2.0))

    monkeypatch.setattr(waiting.model, "loss_without_waiting", asking)
    with caplog.at_level("INFO"):
        losses = [[float(one.step(np.arange(4), step)) for step in range(6)] for one in (waiting, honest)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert caplog.text.count("no more steps are recorded as CUDA graphs") == 1
    assert not fixed_of(waiting).recorded
    assert fixed_of(honest).recorded


def test_a_stopped_run_of_recorded_steps_goes_on_bit_for_bit(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=6, train__schedule="linear", train__precision="bfloat16", **DROPOUT)
    task = recipe.make_task()
    examples, dev = task.read(str(sample.train)), task.read(str(sample.dev))
    train_task("ner", recipe, examples, dev, tmp_path / "straight", model=model, device="cuda")
    step = Learner.step
    with monkeypatch.context() as patch:

        def breaking(self: Any, rows: Any, number: int) -> Tensor:
            if number == 7:
                raise KeyboardInterrupt
            return step(self, rows, number)

        patch.setattr(Learner, "step", breaking)
        with pytest.raises(KeyboardInterrupt):
            train_task(
                "ner", recipe.changed({"train.checkpoint_minutes": 0.0}), examples, dev, tmp_path / "broken",
                model=model, device="cuda",
            )  # fmt: skip
    train_task("ner", recipe, examples, dev, tmp_path / "broken", model=model, device="cuda", resume=True)
    straight, broken = ((tmp_path / n / "model" / "model.safetensors").read_bytes() for n in ("straight", "broken"))
    assert straight == broken


def test_the_crf_gives_on_a_gpu_what_it_gives_on_a_cpu() -> None:
    generator = torch.Generator().manual_seed(0)
    N, T, K = 17, 60, 19
    emissions = 3 * torch.randn(N, T, K, generator=generator)
    chain = [torch.randn(*shape, generator=generator) for shape in ((K, K), (K,), (K,))]
    lengths = torch.randint(1, T + 1, (N,), generator=generator)
    tags = torch.randint(0, K, (N, T), generator=generator)
    results = []
    for device in ("cpu", "cuda"):
        leaves = [x.clone().to(device).requires_grad_() for x in (emissions, *chain)]
        loss = crf_loss(leaves[0], tags.to(device), lengths.to(device), Chain(*leaves[1:]))
        loss.sum().backward()
        path = crf_best_path(leaves[0], lengths.to(device), Chain(*leaves[1:]))
        results.append([loss.detach().cpu(), path.cpu(), *(leaf.grad.cpu() for leaf in leaves)])
    for cpu, cuda in zip(*results, strict=True):
        torch.testing.assert_close(cuda, cpu, rtol=1e-4, atol=1e-4)
