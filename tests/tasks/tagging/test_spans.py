"""Chunks: the same as conlleval finds, from any scheme, and back."""

import json
from pathlib import Path

import pytest

from elmo.tasks.tagging.spans import Span, chunk_scores, find_spans, is_tag, may_follow, write_iob2, write_iobes

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "conlleval" / "cases.json"
CASES = json.loads(GOLDEN.read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_scores_are_those_that_conlleval_prints(case: dict) -> None:
    scores = chunk_scores([tags.split() for tags in case["gold"]], [tags.split() for tags in case["found"]])
    for name in ("precision", "recall", "f1"):
        assert scores[name] == pytest.approx(case[name], abs=0.00501)
    for label, f1 in case["labels"].items():
        assert scores[f"f1 {label}"] == pytest.approx(f1, abs=0.00501)


@pytest.mark.parametrize(
    "tags",
    [
        "I-PER I-PER O I-LOC B-LOC O I-ORG",  # IOB1
        "B-PER I-PER O B-LOC B-LOC O B-ORG",  # IOB2
        "B-PER E-PER O S-LOC S-LOC O S-ORG",  # IOBES
        "B-PER L-PER O U-LOC U-LOC O U-ORG",  # BILOU
    ],
)
def test_every_scheme_means_the_same_chunks(tags: str) -> None:
    spans = find_spans(tags.split())
    assert spans == [Span(0, 2, "PER"), Span(3, 4, "LOC"), Span(4, 5, "LOC"), Span(6, 7, "ORG")]
    assert write_iob2(spans, 7) == ("B-PER", "I-PER", "O", "B-LOC", "B-LOC", "O", "B-ORG")
    assert write_iobes(spans, 7) == ("B-PER", "E-PER", "O", "S-LOC", "S-LOC", "O", "S-ORG")


def test_a_label_may_have_a_hyphen() -> None:
    assert find_spans(["B-A-B", "I-A-B", "I-A"]) == [Span(0, 2, "A-B"), Span(2, 3, "A")]


@pytest.mark.parametrize(("tag", "fine"), [("O", True), ("B-X", True), ("PER", False), ("B-", False), ("X-PER", False)])
def test_a_tag_is_told_from_other_labels(tag: str, fine: bool) -> None:
    assert is_tag(tag) is fine


def test_what_may_follow_is_what_writing_can_give() -> None:
    tags = ["O", "B-A", "I-A", "E-A", "S-A", "B-B", "E-B"]
    follow = {(a, b) for a in [None, *tags] for b in [*tags, None] if may_follow(a, b)}
    assert ("B-A", "E-A") in follow
    assert ("B-A", "E-B") not in follow
    assert ("B-A", "O") not in follow
    assert (None, "I-A") not in follow
    assert ("I-A", None) not in follow
    assert ("E-A", "B-B") in follow
    assert ("S-A", "E-A") not in follow


def test_nothing_found_scores_zero_and_nothing_wanted_too() -> None:
    assert chunk_scores([["B-A"]], [["O"]])["f1"] == 0.0
    assert chunk_scores([["O"]], [["O"]]) == {"f1": 0.0, "precision": 0.0, "recall": 0.0}
