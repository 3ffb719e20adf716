"""Descriptions of jobs: what counts as a difference, and how it is told."""

import pytest

from elmo.disk.differences import first_difference

PLAN = {"seed": 1, "options": {"min_count": 3, "coverage": None}, "inputs": ["a", "b"]}


def test_equal_plans_have_no_difference() -> None:
    assert first_difference(PLAN, PLAN) is None
    assert first_difference({**PLAN, "counts": {}}, PLAN) is None  # a manifest says more


@pytest.mark.parametrize(
    ("recorded", "difference"),
    [
        ({"seed": 2}, "seed was 2 and is 1 now"),
        ({"options": {"min_count": 5, "coverage": None}}, "options.min_count was 5 and is 3 now"),
        ({"options": None}, "options was None and is {'min_count': 3, 'coverage': None} now"),
        ({"inputs": ["a", "c"]}, "inputs had 'c' where there is 'b' now"),
        ({"inputs": ["a"]}, "inputs had None where there is 'b' now"),
        ({"inputs": ["a", "b", "c"]}, "inputs had 'c' where there is None now"),
    ],
)
def test_the_first_difference_is_told_in_words(recorded, difference) -> None:
    assert first_difference({**PLAN, **recorded}, PLAN) == difference


def test_a_name_that_a_damaged_record_has_is_told_in_short() -> None:
    found = first_difference({**PLAN, "options": {**PLAN["options"], f"{'x' * 3000}.txt": [1]}}, PLAN)
    assert found == f"options.{'x' * 20}...{'x' * 93}.txt was [1] and is None now"
