"""The learning rate: up, level, down."""

import pytest

from elmo.errors import ConfigError
from elmo.run.schedule import ScheduleConfig, learning_rate_fraction


def test_rate_rises_holds_and_falls_to_its_final_share():
    config = ScheduleConfig(warmup=0.1, hold=0.5, final=0.01)
    shares = [learning_rate_fraction(step, 1000, config) for step in range(1000)]
    assert shares[0] < 0.02
    assert shares[:100] == sorted(shares[:100])
    assert set(shares[100:500]) == {1.0}
    assert shares[500:] == sorted(shares[500:], reverse=True)
    assert shares[-1] == pytest.approx(0.01)


def test_constant_rate():
    config = ScheduleConfig(warmup=0.0, hold=1.0, final=0.5)
    assert {learning_rate_fraction(step, 50, config) for step in range(50)} == {1.0}


def test_a_run_of_one_step_has_a_rate():
    assert 0 < learning_rate_fraction(0, 1, ScheduleConfig()) <= 1


@pytest.mark.parametrize("wrong", [{"warmup": 0.6, "hold": 0.5}, {"hold": 1.5}, {"final": -0.1}])
def test_impossible_shares_are_refused(wrong):
    with pytest.raises(ConfigError, match="schedule"):
        ScheduleConfig(**wrong)
