"""How good answers are label by label: precision, recall and F1 of each, and which labels are taken for which; or how
good those to each kind of example are, where answers are no labels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """One label: rates in per cent, how often it was wanted, and how often it was given."""

    precision: float
    recall: float
    f1: float
    wanted: int
    given: int


@dataclass(frozen=True, kw_only=True)
class Details:
    """The scores of each label; `confusion[wanted][given]` counts, where every answer is one of the labels.

    `groups`: scores and counts of each kind of example, where answers are no labels.
    """

    labels: dict[str, LabelScore] = field(default_factory=dict)
    confusion: dict[str, dict[str, int]] | None = None
    groups: dict[str, dict[str, float]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        if self.groups is not None:
            return {"groups": self.groups}
        values: dict[str, Any] = {"labels": {label: asdict(score) for label, score in self.labels.items()}}
        return values if self.confusion is None else values | {"confusion": self.confusion}


def rates(right: int, given: int, wanted: int) -> tuple[float, float, float]:
    """Precision, recall and F1 in per cent, as conlleval has them."""
    precision = 100 * right / given if given else 0.0
    recall = 100 * right / wanted if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def label_scores(counts: Mapping[str, tuple[int, int, int]]) -> dict[str, LabelScore]:
    """Scores from how often each label was right, given and wanted."""
    found = {}
    for label in sorted(counts):
        precision, recall, f1 = rates(*counts[label])
        _, given, wanted = counts[label]
        found[label] = LabelScore(precision=precision, recall=recall, f1=f1, wanted=wanted, given=given)
    return found


def confusion_details(pairs: Iterable[tuple[str, str]]) -> Details:
    """Details of answers that are labels, from (wanted, given)."""
    counts = Counter(pairs)
    labels = sorted({label for pair in counts for label in pair})
    wanted: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for (one, other), count in counts.items():
        wanted[one] += count
        given[other] += count
    return Details(
        labels=label_scores({x: (counts[x, x], given[x], wanted[x]) for x in labels}),
        confusion={
            one: {other: counts[one, other] for other in labels if counts[one, other]} for one in labels if wanted[one]
        },
    )
