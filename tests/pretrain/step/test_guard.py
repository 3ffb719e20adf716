"""The guard: a lone bad step is skipped, several in a row and a rising loss are a divergence."""

import pytest

from elmo.errors import ConfigError
from elmo.pretrain.step.guard import SETTLING, Guard, GuardConfig


def feed(guard, losses, config):
    return [guard.judge(loss, bad=False, config=config) for loss in losses]


def test_bad_steps_in_a_row_are_a_divergence():
    guard, config = Guard(), GuardConfig(bad_steps=3)
    assert [guard.judge(5.0, bad=True, config=config) for _ in range(3)] == ["skipped", "skipped", "diverged"]


def test_a_good_step_between_starts_the_count_anew():
    guard, config = Guard(), GuardConfig(bad_steps=2)
    verdicts = [guard.judge(5.0, bad=bad, config=config) for bad in (True, False, True, False)]
    assert verdicts == ["skipped", "good", "skipped", "good"]


def test_a_lasting_rise_is_a_divergence_and_a_spike_is_not():
    config = GuardConfig(rise=1.0)
    guard = Guard()
    assert set(feed(guard, [4.0] * SETTLING + [20.0] + [4.0] * 50, config)) == {"good"}
    assert "diverged" in feed(guard, [7.0] * 50, config)


def test_the_watch_for_a_rise_can_be_switched_off():
    assert set(feed(Guard(), [4.0] * SETTLING + [9.0] * 300, GuardConfig(rise=None))) == {"good"}


def test_first_steps_are_not_judged():
    assert set(feed(Guard(), [1.0] + [9.0] * (SETTLING - 2), GuardConfig(rise=0.1))) == {"good"}


def test_calm_ends_half_way_to_a_divergence():
    config = GuardConfig(rise=2.0)
    assert Guard(smoothed=4.9, lowest=4.0).is_stable(config)
    assert not Guard(smoothed=5.1, lowest=4.0).is_stable(config)
    assert not Guard(smoothed=4.0, lowest=4.0, bad_in_row=1).is_stable(config)


@pytest.mark.parametrize("wrong", [{"bad_steps": 0}, {"rise": 0.0}, {"backoff": 1.0}, {"rollbacks": -1}])
def test_impossible_values_are_refused(wrong):
    with pytest.raises(ConfigError, match="guard"):
        GuardConfig(**wrong)
