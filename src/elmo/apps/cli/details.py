"""Scores label by label as a table for people: precision, recall, F1, and which labels are taken for which."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmo.tasks.details import Details

MATRIX = 12  # labels; a larger table of confusions is not read
MISTAKES = 10  # shown instead
WIDEST = 20  # characters of a label


def detail_lines(details: "Details") -> Iterator[str]:
    """Lines of text."""
    if details.groups is not None:
        yield from _groups(details.groups)
        return
    width = max([5, *(len(_short(label)) for label in details.labels)])
    yield f"{'label':{width}}  precision  recall      f1  wanted   given"
    for label, score in details.labels.items():
        yield (
            f"{_short(label):{width}}  {score.precision:9.2f}  {score.recall:6.2f}  {score.f1:6.2f}"
            f"  {score.wanted:6}  {score.given:6}"
        )
    if details.confusion is None:
        return
    yield ""
    if len(details.labels) <= MATRIX:
        yield from _matrix(list(details.labels), details.confusion)
    else:
        yield from _mistakes(details.confusion)


def _groups(groups: dict[str, dict[str, float]]) -> Iterator[str]:
    width = max([5, *map(len, groups)])
    heads = list(dict.fromkeys(name for scores in groups.values() for name in scores))
    yield "  ".join([f"{'kind':{width}}", *(f"{head:>11}" for head in heads)])
    for kind, scores in groups.items():
        cells = (scores.get(head, 0) for head in heads)
        yield "  ".join([f"{kind:{width}}", *(f"{n:11}" if isinstance(n, int) else f"{n:11.2f}" for n in cells)])


def _matrix(labels: list[str], confusion: dict[str, dict[str, int]]) -> Iterator[str]:
    width = max([16, *(len(_short(label)) for label in labels)])
    columns = [max(6, len(_short(label))) for label in labels]
    heads = "  ".join(f"{_short(label):>{column}}" for label, column in zip(labels, columns, strict=True))
    yield f"{'wanted / given':{width}}  {heads}"
    for wanted, row in confusion.items():
        cells = "  ".join(f"{row.get(given, 0):{column}}" for given, column in zip(labels, columns, strict=True))
        yield f"{_short(wanted):{width}}  {cells}"


def _mistakes(confusion: dict[str, dict[str, int]]) -> Iterator[str]:
    wrong = [
        (count, wanted, given) for wanted, row in confusion.items() for given, count in row.items() if wanted != given
    ]
    yield "the most frequent mistakes:"
    for count, wanted, given in sorted(wrong, key=lambda mistake: (-mistake[0], mistake))[:MISTAKES]:
        yield f"{count:6}  {_short(wanted)} taken for {_short(given)}"


def _short(label: str) -> str:
    return label if len(label) <= WIDEST else label[: WIDEST - 3] + "..."
