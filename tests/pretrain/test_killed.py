"""Training runs killed at their file operations: resumed, they leave what an undisturbed one leaves."""

import sys
from collections.abc import Callable
from pathlib import Path

import h5py  # noqa: F401  (here and not in each child, which would import it anew)
import pytest
import torch
import torch._dynamo  # (the optimizer's first step imports it)
from tests.killing import contents, points, run

from elmo.lm.head import FullConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.finetuning import finetune
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.step.optimizers import AdamConfig
from elmo.weights.formats import read_model

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot fork"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU, gradients need threads, which a fork lacks"),
]

SOME = 4  # points of the sweep in the suite; all of them are marked slow
QUICK = {"batch_size": 4, "window": 5, "log_every": 1, "dropout": 0.0, "loss": FullConfig()}
CONFIG = TrainConfig(
    **QUICK,
    size="tiny",
    steps=2,
    evaluate_every=1,
    checkpoint_every=1,
    keep=1,
    optimizer=AdamConfig(learning_rate=0.01),
)
Work = Callable[[Path, bool], str]  # a run's folder, whether to resume: its status


@pytest.fixture
def training(toy_store: Path) -> Work:
    def work(folder: Path, resume: bool) -> str:
        return pretrain(toy_store, CONFIG, folder, resume=resume, device="cpu", tensorboard=False).status

    return work


@pytest.fixture
def tuning(toy_store: Path, make_store: Callable[..., Path], tmp_path: Path) -> Work:
    made = pretrain(toy_store, CONFIG.replace(steps=1), tmp_path / "start", device="cpu", tensorboard=False).model
    assert made is not None
    model = read_model(made)
    sentences = [["the", "gene", f"p{n % 5}", "binds", "two", "proteins", "."] for n in range(50)]
    store = make_store(tmp_path / "domain", sentences, sentences[:5])

    def work(folder: Path, resume: bool) -> str:
        return finetune(model, store, folder, config=CONFIG, resume=resume, device="cpu", tensorboard=False).status

    return work


def trained(folder: Path) -> dict[str, str]:
    """What there is, and the hashes of the weights: the other files hold times, which no two runs share."""
    return {name: seen if name.endswith(".safetensors") else "" for name, seen in contents(folder).items()}


def sweep(work: Work, folder: Path, *, most: int | None) -> None:
    straight = folder / "straight"
    done = run(lambda: work(straight, False), within=straight)
    assert done.result == "finished", done.error
    for n in points(len(done.operations), most=most):
        place, at = folder / f"killed-{n}", f"killed before operation {n}, {done.operations[n]}"
        assert run(lambda: work(place, False), within=place, kill_at=n).killed, at  # noqa: B023
        again = run(lambda: work(place, True), within=place)  # noqa: B023
        assert again.result == "finished", f"{at}: {again.error}"
        assert trained(place) == trained(straight), at


def test_a_killed_training_resumes_to_what_an_undisturbed_one_leaves(training: Work, tmp_path: Path) -> None:
    sweep(training, tmp_path, most=SOME)


def test_a_killed_fine_tuning_resumes_to_what_an_undisturbed_one_leaves(tuning: Work, tmp_path: Path) -> None:
    sweep(tuning, tmp_path, most=SOME)


def test_a_run_has_its_model_when_all_else_is_written(training: Work, tmp_path: Path) -> None:
    done = run(lambda: training(tmp_path / "run", False), within=tmp_path / "run")
    written = [operation for operation in done.operations if operation.startswith("os.rename")]
    assert "model" in written[-1], written[-3:]  # fine-tuning takes a run that has one for finished


@pytest.mark.slow
@pytest.mark.timeout(0)  # some hundred pairs of processes, each of which has a limit of its own
def test_every_point_of_a_training(training: Work, tmp_path: Path) -> None:
    sweep(training, tmp_path, most=None)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_every_point_of_a_fine_tuning(tuning: Work, tmp_path: Path) -> None:
    sweep(tuning, tmp_path, most=None)
