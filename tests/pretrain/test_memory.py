"""The memory estimate: exact where it can be, growing with what makes memory grow."""

import pytest

from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import FullConfig
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.memory import distinct_words, estimate_memory
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan

V = 1000


def estimate(world=1, vocabulary=V, types=50_000, symbols=1_000_000, **options):
    config = TrainConfig(**{"size": "tiny", "batch_size": 32, **options})
    plan = make_plan(config, symbols=symbols, vocabulary=vocabulary, world=world)
    return estimate_memory(plan, vocabulary=vocabulary, types=types, symbols=symbols, world=world)


@pytest.mark.parametrize("loss", [FullConfig(), AdaptiveConfig(), AdaptiveConfig(cutoffs=(10, 50, 200), ratio=2.0)])
def test_parameters_are_counted_exactly(loss):
    config = TrainConfig(size="tiny", loss=loss)
    model = new_model(config, vocabulary=V)
    numbers = sum(p.numel() for p in model.parameters())
    found = estimate(loss=loss)
    assert found.parameters == found.gradients == 4 * numbers


def test_the_whole_is_the_sum_of_its_parts():
    found = estimate()
    assert found.total == sum(vars(found).values())


def test_activations_shrink_with_accumulation_and_with_processes():
    whole, parts, shared = estimate(), estimate(accumulate=4), estimate(world=4)
    assert parts.lstm == shared.lstm == whole.lstm // 4
    assert parts.characters < whole.characters
    assert parts.parameters == whole.parameters


def test_a_large_vocabulary_costs_parameters_and_a_full_softmax_no_more_than_its_chunks():
    small, large = estimate(loss=FullConfig()), estimate(loss=FullConfig(), vocabulary=10**6)
    assert large.parameters > 100 * small.parameters
    assert large.softmax < 4 * 3 * (1 << 25)


def test_distinct_words_follow_the_measured_text():
    assert distinct_words(20_480, 915_000) == pytest.approx(5600, rel=0.1)
    assert distinct_words(40_960, 915_000) == pytest.approx(9100, rel=0.1)
    assert distinct_words(40_960, 100) == 100
