"""State between calls: rows by their place, whatever the size of the batches."""

import pytest
import torch

from elmo.compat.carried import CarriedState
from elmo.errors import InputError
from elmo.model.bilm import BiLM
from elmo.model.state import State


def filled(bilm: BiLM, rows: int, value: float) -> State:
    return State(*(torch.full_like(part, value) for part in bilm.zero_state(rows)))


def values(state: State) -> list[float]:
    """One number for each row."""
    return state.h[0, 0, :, 0].tolist()


def test_the_first_batch_starts_from_zero(bilm):
    assert values(CarriedState().start(bilm, 2)) == [0, 0]


def test_a_smaller_batch_leaves_the_other_rows_as_they_were(bilm):
    carried = CarriedState()
    carried.keep(filled(bilm, 3, 1.0))
    carried.keep(filled(bilm, 1, 2.0))
    assert values(carried.start(bilm, 3)) == [2, 1, 1]


def test_a_larger_batch_starts_its_new_rows_from_zero(bilm):
    carried = CarriedState()
    carried.keep(filled(bilm, 1, 1.0))
    assert values(carried.start(bilm, 3)) == [1, 0, 0]


def test_an_empty_batch_changes_nothing(bilm):
    carried = CarriedState()
    carried.keep(filled(bilm, 2, 1.0))
    carried.keep(bilm.zero_state(0))
    assert values(carried.start(bilm, 2)) == [1, 1]


def test_reset_forgets_all_rows_or_the_masked_ones(bilm):
    carried = CarriedState()
    carried.keep(filled(bilm, 3, 1.0))
    carried.reset_states(torch.tensor([False, True, False]))
    assert values(carried.start(bilm, 3)) == [1, 0, 1]
    with pytest.raises(InputError, match=r"shape \[2\].*\[3\] is wanted"):
        carried.reset_states(torch.tensor([True, True]))
    carried.reset_states()
    assert values(carried.start(bilm, 3)) == [0, 0, 0]


def test_stateful_off_starts_every_batch_from_zero(bilm):
    carried = CarriedState()
    carried.stateful = False
    carried.keep(filled(bilm, 1, 1.0))
    assert values(carried.start(bilm, 1)) == [0]


def test_what_is_kept_has_no_gradient_and_is_not_changed_by_later_batches(bilm):
    carried = CarriedState()
    after = filled(bilm, 1, 1.0)
    after.h.requires_grad_()
    carried.keep(after)
    start = carried.start(bilm, 1)
    assert not start.h.requires_grad
    start.h.fill_(5)
    assert values(carried.start(bilm, 1)) == [1]


def test_a_state_kept_in_inference_mode_can_be_trained_from(bilm):
    carried = CarriedState()
    with torch.inference_mode():
        carried.keep(filled(bilm, 1, 1.0))
    weight = torch.ones(1, requires_grad=True)
    (carried.start(bilm, 1).h * weight).sum().backward()
    assert weight.grad is not None
