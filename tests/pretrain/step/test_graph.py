"""The captured step on CUDA equals the eager one: losses, weights, optimizer and state."""

from typing import get_args

import pytest
import torch

import elmo.pretrain.trainer as trainer_module
from elmo.corpus.store import CorpusStore
from elmo.lm.head import SampledConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.step.optimizers import OptimizerConfig
from elmo.pretrain.trainer import Trainer
from elmo.run.distributed import World

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def make(folder, config: TrainConfig) -> Trainer:
    store = CorpusStore.open(folder)
    plan = make_plan(config, symbols=len(store.train_symbols), vocabulary=len(store.vocabulary))
    model = new_model(config.replace(batch_size=plan.batch_size), vocabulary=len(store.vocabulary))
    return Trainer(store, plan, model=model, world=World(), device=torch.device("cuda"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("optimizer", [config() for config in get_args(OptimizerConfig)], ids=lambda c: c.kind)
def test_a_captured_step_equals_an_eager_one(toy_store, monkeypatch, optimizer, precision):
    config = TrainConfig(
        size="tiny", batch_size=8, window=10, steps=20, dropout=0.2, precision=precision, optimizer=optimizer,
        loss=SampledConfig(samples=8),
    )  # fmt: skip
    captured = make(toy_store, config)
    assert captured.captured is not None
    with monkeypatch.context() as patch:
        patch.setattr(trainer_module, "can_be_captured", lambda *_: False)
        eager = make(toy_store, config)
    assert eager.captured is None
    for step in range(12):
        a, b = captured.step(step), eager.step(step)
        torch.testing.assert_close(a.losses, b.losses, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(a.state.c, b.state.c, rtol=1e-3, atol=1e-3)
    # Adam and Muon divide by what they have seen; where that is next to nothing, rounding can turn a step round.
    for (name, ours), theirs in zip(captured.model.named_parameters(), eager.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-2, atol=1e-3, msg=name)


def test_a_batch_with_more_distinct_words_than_places_is_trained_all_the_same(toy_store):
    config = TrainConfig(size="tiny", batch_size=8, window=10, steps=20, dropout=0.0, loss=SampledConfig(samples=8))
    roomy, narrow = make(toy_store, config), make(toy_store, config)
    narrow.capacity = 1
    for step in range(8):
        torch.testing.assert_close(narrow.step(step).losses, roomy.step(step).losses, rtol=1e-3, atol=1e-4)
