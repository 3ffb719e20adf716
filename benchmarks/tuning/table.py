"""Tables of the search, and which recipes are best over all tasks."""

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.tuning.units import UNTUNED

Result = dict[str, Any]


def best_ways(results: Sequence[Result], shares: Sequence[float], *, most: int) -> list[tuple[str, float]]:
    """Recipes with shares of the tuned weights, by what the linear classifier loses less on dev, over all tasks."""
    untuned = {r["text"]: r["shares"]["1"]["dev_loss"] for r in results if r["recipe"] == UNTUNED and _probed(r, 1.0)}
    losses: dict[tuple[str, float], list[float]] = {}
    for result in results:
        for share in shares:
            if result["recipe"] != UNTUNED and result["text"] in untuned and _probed(result, share):
                loss = result["shares"][f"{share:g}"]["dev_loss"] / untuned[result["text"]]
                losses.setdefault((result["recipe"], share), []).append(loss)
    tried = max(map(len, losses.values()), default=0)
    whole = {way: statistics.mean(found) for way, found in losses.items() if len(found) == tried}
    return sorted(whole, key=lambda way: whole[way])[:most]


def make_tables(tuned: Sequence[Result], runs: Sequence[Result], *, command: str) -> str:
    """All of it as Markdown."""
    lines = [
        f"Made by `{command}`",
        "",
        "Held-out perplexity of each text, and of its training sentences in brackets:",
        "",
    ]
    lines += _by_text(tuned, _perplexity)
    lines += ["", "A linear classifier of all layers, on dev (mean of the seeds), and its loss:", ""]
    lines += _by_text([r for r in tuned if any(_probed(r, float(s)) for s in r["shares"])], _score)
    lines += [
        "",
        "Task models on dev:",
        "",
        "| text | recipe | share | seeds | mean | deviation | gain |",
        "|---" * 7 + "|",
    ]
    found: dict[tuple[str, str, float], list[float]] = {}
    for run in runs:
        found.setdefault((run["text"], run["recipe"], run["share"]), []).append(run["dev"][run["metric"]])
    for (text, recipe, share), scores in sorted(found.items()):
        start = found.get((text, UNTUNED, 1.0))
        gain = "" if start is None or recipe == UNTUNED else f"{statistics.mean(scores) - statistics.mean(start):+.2f}"
        deviation = f"{statistics.stdev(scores):.2f}" if len(scores) > 1 else ""
        lines.append(
            f"| {text} | {recipe} | {share:g} | {len(scores)} | {statistics.mean(scores):.2f} | {deviation} | {gain} |"
        )
    return "\n".join([*lines, ""])


def _by_text(results: Sequence[Result], cell: Any) -> list[str]:
    """A line a recipe and share, a column a text."""
    texts = list(dict.fromkeys(r["text"] for r in results))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for result in results:
        for share, measured in result["shares"].items():
            if (told := cell(measured)) is not None:
                rows.setdefault((result["recipe"], share), {})[result["text"]] = told
    lines = [f"| recipe | share | {' | '.join(texts)} |", "|---" * (len(texts) + 2) + "|"]
    return lines + [
        f"| {recipe} | {share} | {' | '.join(found.get(text, '') for text in texts)} |"
        for (recipe, share), found in rows.items()
    ]


def _perplexity(measured: Result) -> str | None:
    return f"{measured['heldout']:.1f} ({measured['train']:.1f})"


def _score(measured: Result) -> str | None:
    return f"{measured['score']:.2f} ({measured['dev_loss']:.4f})" if "score" in measured else None


def _probed(result: Result, share: float) -> bool:
    return "score" in result["shares"].get(f"{share:g}", {})
