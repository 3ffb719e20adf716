"""The plan: everything a run needs to know follows from the corpus."""

import pytest

from elmo.errors import ConfigError
from elmo.lm.head import FullConfig, SampledConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.plan import make_plan
from elmo.pretrain.step.optimizers import AdamConfig


def plan(symbols=1_000_000, vocabulary=30_000, world=1, **options):
    return make_plan(TrainConfig(**options), symbols=symbols, vocabulary=vocabulary, world=world)


def test_epochs_become_steps_of_the_counted_corpus():
    made = plan(batch_size=50, window=20, epochs=3)
    assert (made.steps_per_epoch, made.steps) == (1000, 3000)
    assert plan(batch_size=50, epochs=0.5).steps == 500


@pytest.mark.parametrize(("size", "rate"), [("original", 1.2e-3), ("medium", 1.697e-3), ("small", 2.4e-3)])
def test_the_rate_follows_the_size_of_the_model(size, rate):
    assert plan(size=size).learning_rate == pytest.approx(rate, rel=1e-3)
    assert plan(size=size, optimizer=AdamConfig(learning_rate=0.01)).learning_rate == 0.01


def test_steps_take_the_place_of_epochs():
    assert plan(steps=17).steps == 17


def test_evaluation_comes_once_an_epoch_or_twenty_times_a_run():
    assert plan(batch_size=50, epochs=100).evaluate_every == 1000
    assert plan(batch_size=50, epochs=1).evaluate_every == 50
    assert plan(evaluate_every=7).evaluate_every == 7


def test_checkpoints_come_with_evaluations_unless_told():
    made = plan(evaluate_every=7)
    assert made.checkpoint_every == 7
    assert plan(evaluate_every=7, checkpoint_every=3).checkpoint_every == 3


def test_samples_never_exceed_the_vocabulary():
    assert plan(vocabulary=100, loss=SampledConfig(samples=8192)).samples == 100
    assert plan(loss=SampledConfig(samples=64)).samples == 64
    assert plan(loss=FullConfig()).samples is None


def test_rows_are_a_multiple_of_the_processes():
    with pytest.raises(ConfigError, match="multiple of 3"):
        plan(batch_size=32, world=3)
