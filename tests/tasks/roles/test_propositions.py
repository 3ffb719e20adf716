"""Arguments counted by hand, by the rules of srl-eval.pl."""

import pytest
from tests.tasks.conftest import SAMPLES, SAMPLES_OF_TASKS, small_recipe

from elmo.tasks.roles.columns import RolesExample
from elmo.tasks.roles.propositions import Argument, Proposition, Roles, argument_counts, find_arguments
from elmo.tasks.tagging.spans import Span

TASK = small_recipe(SAMPLES_OF_TASKS["roles"]).make_task()


def spans(text: str) -> tuple[Span, ...]:
    """`A0:0-2 V:2-3`."""
    found = []
    for part in text.split():
        label, _, place = part.partition(":")
        start, _, end = place.partition("-")
        found.append(Span(int(start), int(end), label))
    return tuple(found)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("A0:0-2 V:2-3 A1:3-5", [("A0", (0, 2)), ("A1", (3, 5))]),
        ("A1:0-1 V:1-2 C-A1:2-4", [("A1", (0, 1), (2, 4))]),
        ("A1:0-1 A0:1-2 C-A1:2-4 C-A1:5-6", [("A1", (0, 1), (2, 4), (5, 6)), ("A0", (1, 2))]),  # one in between
        ("C-A1:2-4 A1:5-6", [("A1", (2, 4)), ("A1", (5, 6))]),  # nothing before it
        ("C-A1:2-4 C-A1:5-6", [("A1", (2, 4), (5, 6))]),
        ("A1:0-1 A1:2-3 C-A1:4-5", [("A1", (0, 1)), ("A1", (2, 3), (4, 5))]),  # two stay two; the last is continued
        ("V:0-1 C-V:2-3 A0:3-4", [("A0", (3, 4))]),
        ("R-A0:0-1 A0:1-2 C-R-A0:2-3", [("R-A0", (0, 1), (2, 3)), ("A0", (1, 2))]),
    ],
)
def test_pieces_are_put_together(roles: str, expected: list[tuple]) -> None:
    assert find_arguments(spans(roles)) == [
        Argument(label, pieces) for label, *rest in expected for pieces in [(*rest,)]
    ]


@pytest.mark.parametrize(
    ("wanted", "given", "right", "excess", "missed"),
    [
        ("A0:0-1 V:1-2 A1:2-4", "A0:0-1 V:1-2 A1:2-4", 2, 0, 0),
        ("A0:0-1 V:1-2 A1:2-4", "A0:0-1 V:1-4", 1, 0, 1),  # V of another extent costs nothing
        ("A0:0-1 V:1-2 A1:2-4", "A0:0-1 V:1-2 A1:2-5", 1, 1, 1),
        ("A1:0-1 V:1-2 C-A1:2-4", "A1:0-1 V:1-2", 0, 1, 1),  # half of it is all wrong
        ("A1:0-1 V:1-2 C-A1:2-4", "A1:0-1 V:1-2 A1:2-4", 0, 2, 1),
        ("A1:2-4", "C-A1:2-4", 1, 0, 0),
        ("A0:0-1", "A1:0-1", 0, 1, 1),
        ("V:0-1", "V:0-1", 0, 0, 0),
    ],
)  # fmt: skip
def test_arguments_are_right_excess_or_missed(wanted: str, given: str, right: int, excess: int, missed: int) -> None:
    counts = argument_counts([(spans(wanted), spans(given))])
    total = [sum(count[n] for count in counts.values()) for n in range(3)]
    assert total == [right, right + excess, right + missed]


def test_scores_are_sums_over_predicates_and_others_are_skipped() -> None:
    gold = Roles((Proposition(1, spans("A0:0-1 V:1-2 A1:2-4")), Proposition(4, spans("A1:2-4 V:4-5"))), (1, 4))
    example = RolesExample(TASK.read(str(SAMPLES / "roles-dev.txt"))[0].texts, gold, tags=("X", "VBD", "X", "X", "NN"))
    found = Roles((Proposition(1, spans("A0:0-1 V:1-2 A2:2-4")), Proposition(3, spans("A1:0-1"))), (1, 3))
    scores = TASK.score([example], [found])
    assert scores["precision"] == pytest.approx(50)  # of A0 and A2; the proposition at 3 is none of the gold ones
    assert scores["recall"] == pytest.approx(100 / 3)
    assert scores["f1"] == pytest.approx(40)
    assert scores["verbs f1"] == pytest.approx(50)
    assert scores["predicates f1"] == pytest.approx(50)
    details = TASK.details([example], [found])
    assert {label: (s.wanted, s.given) for label, s in details.labels.items()} == {
        "A0": (1, 1), "A1": (2, 0), "A2": (0, 1),
    }  # fmt: skip
