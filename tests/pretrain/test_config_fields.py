"""No dead options: a change of any field of the configuration changes something that can be seen."""

import dataclasses
import hashlib
from typing import Any

import pytest
import torch

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import FullConfig, SampledConfig
from elmo.pretrain.checkpoint import list_checkpoints
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step import step
from elmo.pretrain.step.guard import Guard, GuardConfig
from elmo.pretrain.step.optimizers import AdagradConfig, AdamConfig, MuonConfig
from elmo.pretrain.trainer import Trainer
from elmo.run.distributed import World
from elmo.run.metrics import read_metrics
from elmo.run.schedule import ScheduleConfig

BASE = TrainConfig(size="tiny", batch_size=4, window=5, steps=3, evaluate_every=2, log_every=3, keep=9, clip=0.01)

# Seen in the files of a run of three steps.
SEEN_IN_A_RUN: dict[str, Any] = {
    "batch_size": 8,
    "window": 6,
    "order": "document",
    "reset": (0.0, {"window": 12, "steps": 6}),
    "steps": 2,
    "loss": FullConfig(),
    "loss_sum": ("window", {"clip": None, "optimizer": AdagradConfig()}),
    "dropout": 0.5,
    "optimizer": AdagradConfig(),
    "schedule": ScheduleConfig(warmup=0.0, hold=1.0, final=1.0),
    "clip": 0.5,
    "log_every": 1,
    "evaluate_every": 1,
    "evaluate_symbols": 30,
    "checkpoint_every": 1,
    "checkpoint_minutes": 1e-9,
    "keep": 1,
    "seed": 2,
}
# Seen elsewhere, by tests of their own below or in other files.
SEEN_ELSEWHERE = {"size", "model", "epochs", "accumulate", "precision", "guard", "patience", "start_from", "softmax"}


def fingerprint(store, run, config):
    pretrain(store, config, run, device="cpu", tensorboard=False)
    checkpoints = list_checkpoints(run)
    timed = ("seconds", "symbols_per_second")
    return (
        [checkpoint.path.name for checkpoint in checkpoints],
        hashlib.sha256((checkpoints[-1].path / "model.safetensors").read_bytes()).hexdigest(),
        [{key: value for key, value in line.items() if key not in timed} for line in read_metrics(run)],
    )


def test_every_field_is_in_one_of_the_lists():
    fields = {field.name for field in dataclasses.fields(TrainConfig)}
    assert fields == set(SEEN_IN_A_RUN) | SEEN_ELSEWHERE


@pytest.fixture(scope="module")
def base(toy_store, tmp_path_factory):
    return fingerprint(toy_store, tmp_path_factory.mktemp("base"), BASE)


def test_the_same_configuration_gives_the_same_run(toy_store, tmp_path, base):
    assert fingerprint(toy_store, tmp_path, BASE) == base


@pytest.mark.parametrize("name", SEEN_IN_A_RUN)
def test_a_changed_field_changes_the_run(toy_store, tmp_path, base, name):
    value = SEEN_IN_A_RUN[name]
    if isinstance(value, tuple):  # the field shows only together with others, which then are changed in both runs
        value, others = value
        base = fingerprint(toy_store, tmp_path / "base", BASE.replace(**others))
        assert fingerprint(toy_store, tmp_path / "changed", BASE.replace(**{**others, name: value})) != base
    else:
        assert fingerprint(toy_store, tmp_path, BASE.replace(**{name: value})) != base


def weights_after_a_step(store, config):
    opened = CorpusStore.open(store)
    plan = make_plan(config, symbols=len(opened.train_symbols), vocabulary=len(opened.vocabulary))
    model = new_model(config, vocabulary=len(opened.vocabulary))
    trainer = Trainer(opened, plan, model=model, world=World(), device=torch.device("cpu"))
    trainer.step(1)
    trainer.step(2)
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"optimizer": AdamConfig()}, {"optimizer": AdamConfig(learning_rate=0.1)}),
        ({"optimizer": AdamConfig()}, {"optimizer": AdamConfig(beta1=0.5)}),
        ({"optimizer": AdamConfig()}, {"optimizer": AdamConfig(beta2=0.5)}),
        ({"optimizer": AdamConfig()}, {"optimizer": AdamConfig(epsilon=0.1)}),
        ({"optimizer": AdamConfig()}, {"optimizer": AdamConfig(weight_decay=0.5)}),
        *(
            ({"optimizer": MuonConfig()}, {"optimizer": MuonConfig(**{name: 0.2})})
            for name in ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay")
        ),
        ({"optimizer": MuonConfig()}, {"optimizer": MuonConfig(matrix_scale=0.3)}),
        ({"optimizer": AdagradConfig()}, {"optimizer": AdagradConfig(learning_rate=0.1)}),
        ({"optimizer": AdagradConfig()}, {"optimizer": AdagradConfig(initial_accumulator=0.1)}),
        ({"loss": SampledConfig(samples=4)}, {"loss": SampledConfig(samples=9)}),
        ({"loss": AdaptiveConfig(cutoffs=(5,))}, {"loss": AdaptiveConfig(cutoffs=(6,))}),
        ({"loss": AdaptiveConfig(cutoffs=(5,))}, {"loss": AdaptiveConfig(cutoffs=(5,), ratio=2.0)}),
        ({"schedule": ScheduleConfig(warmup=0.0)}, {"schedule": ScheduleConfig(warmup=0.35)}),
        ({"schedule": ScheduleConfig(hold=0.35)}, {"schedule": ScheduleConfig(hold=0.9)}),
        ({"schedule": ScheduleConfig(final=0.01)}, {"schedule": ScheduleConfig(final=0.6)}),
    ],
    ids=lambda options: str(next(iter(options.values()))),
)
def test_a_changed_field_of_a_part_changes_the_weights(toy_store, before, after):
    one, other = (weights_after_a_step(toy_store, BASE.replace(**options)) for options in (before, after))
    assert one.shape != other.shape or not one.equal(other)


def test_size_and_model_choose_the_architecture():
    assert BASE.architecture != BASE.replace(size="small").architecture
    assert BASE.replace(model=model_of_size("small")).architecture == model_of_size("small")


def test_epochs_choose_the_number_of_steps():
    plans = [make_plan(TrainConfig(epochs=n), symbols=10**6, vocabulary=99) for n in (1, 2)]
    assert plans[1].steps == 2 * plans[0].steps


def test_accumulation_takes_the_rows_in_parts(toy_store, monkeypatch):
    sizes = []
    real = step.position_losses

    def watched(model, table, symbols, *arguments, **options):
        sizes.append(symbols.shape[2])
        return real(model, table, symbols, *arguments, **options)

    monkeypatch.setattr(step, "position_losses", watched)
    weights_after_a_step(toy_store, BASE.replace(accumulate=2))
    assert sizes == [2, 2, 2, 2]


def test_precision_is_checked_against_the_device(toy_store):
    weights_after_a_step(toy_store, BASE.replace(precision="float32"))
    with pytest.raises(ConfigError, match="bfloat16"):
        weights_after_a_step(toy_store, BASE.replace(precision="bfloat16"))


def test_guard_fields_change_its_verdicts():
    def verdicts(config):
        guard = Guard()
        losses = [4.0] * 150 + [7.0] * 60
        good = [guard.judge(loss, bad=False, config=config) for loss in losses]
        return good, [guard.judge(4.0, bad=True, config=config) for _ in range(6)]

    assert verdicts(GuardConfig()) != verdicts(GuardConfig(bad_steps=2))
    assert verdicts(GuardConfig()) != verdicts(GuardConfig(rise=9.0))
