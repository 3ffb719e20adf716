"""Prefetch: the right numbers for any order of steps, made once each where steps follow each other."""

import pytest

from elmo.pretrain.data.prefetch import Prefetch


def test_steps_in_a_row_are_each_made_once():
    made = []
    prefetch = Prefetch(lambda step: made.append(step) or step * step, ahead=2)
    assert [prefetch.take(step) for step in range(5)] == [0, 1, 4, 9, 16]
    assert made[:5] == [0, 1, 2, 3, 4]


def test_a_step_back_gives_that_steps_numbers():
    prefetch = Prefetch(lambda step: -step)
    assert [prefetch.take(step) for step in (7, 8, 3, 4, 4)] == [-7, -8, -3, -4, -4]


def test_an_error_reaches_the_caller():
    prefetch = Prefetch(lambda step: 1 // (step - 2))
    assert prefetch.take(1) == -1
    with pytest.raises(ZeroDivisionError):
        prefetch.take(2)
