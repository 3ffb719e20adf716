"""The table of the battery: a row a figure, a column a model, and the difference to the first model."""

import statistics
from collections.abc import Sequence
from typing import Any

NOTHING = "–"


def make_table(models: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> str:
    """Markdown, from the name of each model and the lines of its results; the first one is compared with.

    Figures of several seeds are means, with their deviation.
    """
    columns = [_figures(results) for _, results in models]
    lines = [f"| | {' | '.join(name for name, _ in models)} |", "|---" * (1 + len(models)) + "|"]
    for name in dict.fromkeys(name for column in columns for name in column):
        found = [column.get(name) for column in columns]
        cells = [_cell(values, found[0] if n else None) for n, values in enumerate(found)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _figures(results: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """All values of each figure, one a seed."""
    figures: dict[str, list[float]] = {}
    for result in results:
        for name, value in result["figures"].items():
            figures.setdefault(name, []).append(value)
    return figures


def _cell(values: list[float] | None, first: list[float] | None) -> str:
    if values is None:
        return NOTHING
    mean = statistics.mean(values)
    deviation = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    difference = "" if first is None else f" ({mean - statistics.mean(first):+.2f})"
    return f"{mean:.2f}{deviation}{difference}"
