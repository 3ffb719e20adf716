"""Tables and plots from the results of `benchmarks.tasks.run`, beside what the paper has.

python -m benchmarks.tasks.report ner results/*/ner.jsonl -o docs/results
"""

import argparse
import datetime
import importlib.util
import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# Peters et al. 2018: table 1 (test). Chunking and EWT's parts of speech are not in it.
PAPER = {
    "ner": (90.15, 92.22),
    "classification": (51.4, 54.7),
    "entailment": (88.0, 88.7),
    "questions": (81.1, 85.8),
    "roles": (81.4, 84.6),
    "coreference": (67.2, 70.4),
}
PARTS = {
    "entailment": "all 549,367 pairs",
    "questions": "all 87,599 questions",
    "roles": "OntoNotes, which is not free",
    "coreference": "OntoNotes, which is not free",
}  # what the paper trained on, and we do not
SECOND = {"questions": "exact_match", "roles": "verbs f1"}  # a score that is told beside the first
NAMES = {
    "baseline": "baseline (no ELMo)",
    "input": "ELMo at the input",
    "both": "ELMo at input and output",
    "top": "top layer at the input",
    "output": "ELMo at the output",
    "lambda 1": "ELMo at the input, lambda 1",
    "tuned": "ELMo at the input, biLM tuned on the task's text",
}


def read_results(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """All finished runs."""
    lines = [line for path in paths if path.is_file() for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def write_report(results: Sequence[dict[str, Any]], folder: Path, task: str, *, command: str) -> None:
    """TASK.md and, where matplotlib is installed, TASK-*.png."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task}.md").write_text(table(results, task, command=command), encoding="utf-8")
    if not results or importlib.util.find_spec("matplotlib") is None:
        return
    draw_scores(results, folder / f"{task}-scores.png", task)
    draw_mixes(results, folder / f"{task}-mixes.png", task)
    if len({r["fraction"] for r in results}) > 1:
        draw_curves(results, folder / f"{task}-fractions.png", task)


def table(results: Sequence[dict[str, Any]], task: str, *, command: str) -> str:
    """Means and deviations over the seeds, gains, and the relative error reduction beside the paper's."""
    lines = [f"# {task}", "", f"Made on {datetime.date.today().isoformat()} by `{command}`", ""]
    if not results:
        return "\n".join([*lines, "No run is finished.", ""])
    metric = results[0]["metric"]
    for fraction in sorted({r["fraction"] for r in results}, reverse=True):
        lines += [f"## {100 * fraction:g} % of the training data", ""]
        lines += [
            f"| model | seeds | dev {metric} | test {metric} | gain | error reduction | best epoch | s an epoch |",
            "|---|---|---|---|---|---|---|---|",
        ]
        base = mean_of(results, "baseline", fraction, "test")
        for arm in ordered_arms(results, fraction):
            runs = runs_of(results, arm, fraction)
            test = mean_of(results, arm, fraction, "test")
            gain = reduction = ""
            if arm != "baseline" and base is not None and test is not None:
                gain, reduction = f"{test - base:+.2f}", f"{100 * (test - base) / (100 - base):.1f} %"
            seeds = ", ".join(str(r["seed"]) for r in sorted(runs, key=lambda r: r["seed"]))
            lines.append(
                f"| {NAMES.get(arm, arm)} | {seeds} | {spread(runs, 'dev', task)} | {spread(runs, 'test', task)} "
                f"| {gain} | {reduction} "
                f"| {statistics.mean(r['best_epoch'] for r in runs):.1f} "
                f"| {statistics.median(r['epoch_seconds'] for r in runs):.2f} |"
            )
        if fraction == 1.0 and task in PAPER:
            before, after = PAPER[task]
            of = f", {PARTS[task]}" if task in PARTS else ""
            lines.append(f"| *the paper: baseline{of}* | | | {before} | | | | |")
            share = 100 * (after - before) / (100 - before)
            lines.append(f"| *the paper: with ELMo{of}* | | | {after} | {after - before:+.2f} | {share:.1f} % | | |")
        lines += ["", *_updates(results, fraction, metric)]
    mixes = with_mixes(results)
    if mixes:
        lines += [
            f"## What the mixes learned (means, {100 * mixes[0]['fraction']:g} % of the training data)",
            "",
            "| model | place | share of each layer | gamma |",
            "|---|---|---|---|",
        ]
        for arm in ordered_arms(mixes, None):
            for place in ("input", "output"):
                found = [r["mixes"][place] for r in mixes if r["arm"] == arm and place in r["mixes"]]
                if found:
                    shares = " / ".join(
                        f"{statistics.mean(c):.3f}" for c in zip(*(m["layers"] for m in found), strict=True)
                    )
                    gamma = statistics.mean(m["gamma"] for m in found)
                    lines.append(f"| {NAMES.get(arm, arm)} | {place} | {shares} | {gamma:.3f} |")
        lines.append("")
    return "\n".join(lines)


def _updates(results: Sequence[dict[str, Any]], fraction: float, metric: str) -> list[str]:
    """How many updates an arm needs to pass the baseline's best score on dev, seed by seed within one schedule."""
    best = {r["seed"]: r["dev"][metric] for r in runs_of(results, "baseline", fraction)}
    lines = []
    for arm in ordered_arms(results, fraction):
        runs = [r for r in runs_of(results, arm, fraction) if arm != "baseline" and r.get("history")]
        needed = [passed_after(r["history"], best[r["seed"]]) for r in runs if r["seed"] in best]
        passed = [steps for steps in needed if steps is not None]
        if passed:
            of_all = statistics.mean(r["history"][-1][0] for r in runs)
            lines.append(
                f"- {NAMES.get(arm, arm)}: the baseline's best dev score is passed after "
                f"{statistics.mean(passed):,.0f} of {of_all:,.0f} updates ({len(passed)} of {len(needed)} seeds)"
            )
    return [*lines, ""] if lines else []


def passed_after(history: Sequence[Sequence[float]], score: float) -> float | None:
    """The updates after which a score is passed for the first time."""
    return next((steps for steps, found in history if found > score), None)


def with_mixes(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs on most of the data that mix several layers: less data teaches another mix."""
    full = max(r["fraction"] for r in results)
    mixed = [r for r in results if r["fraction"] == full and r["mixes"]]
    return [r for r in mixed if len(next(iter(r["mixes"].values()))["layers"]) > 1]


def ordered_arms(results: Sequence[dict[str, Any]], fraction: float | None) -> list[str]:
    """The arms that have runs, the usual ones first."""
    found = {r["arm"] for r in results if fraction is None or r["fraction"] == fraction}
    return [arm for arm in NAMES if arm in found] + sorted(found - NAMES.keys())


def runs_of(results: Sequence[dict[str, Any]], arm: str, fraction: float) -> list[dict[str, Any]]:
    """The runs of an arm."""
    return [r for r in results if r["arm"] == arm and r["fraction"] == fraction]


def mean_of(results: Sequence[dict[str, Any]], arm: str, fraction: float, part: str) -> float | None:
    """The mean score of an arm over its seeds."""
    found = [r[part][r["metric"]] for r in runs_of(results, arm, fraction)]
    return statistics.mean(found) if found else None


def spread(runs: Sequence[dict[str, Any]], part: str, task: str) -> str:
    """Mean and standard deviation, and the mean of a second score."""
    found = [r[part][r["metric"]] for r in runs]
    deviation = f" ± {statistics.stdev(found):.2f}" if len(found) > 1 else ""
    second = SECOND.get(task)
    beside = (
        ""
        if second is None or any(second not in r[part] for r in runs)
        else f" ({second} {statistics.mean(r[part][second] for r in runs):.2f})"
    )
    return f"{statistics.mean(found):.2f}{deviation}{beside}"


def draw_scores(results: Sequence[dict[str, Any]], path: Path, task: str) -> None:
    """Every run as a point, the mean as a bar."""
    figure, axes = _figure()
    arms = ordered_arms(results, None)
    full = max(r["fraction"] for r in results)
    for n, arm in enumerate(arms):
        found = [r["test"][r["metric"]] for r in runs_of(results, arm, full)]
        if found:
            axes.plot([n] * len(found), found, "o", alpha=0.5, color="tab:blue")
            axes.plot([n - 0.25, n + 0.25], [statistics.mean(found)] * 2, color="black")
    if task in PAPER:
        for value, style in zip(PAPER[task], (":", "--"), strict=True):
            axes.axhline(value, linestyle=style, color="grey", linewidth=0.8)
    axes.set_xticks(range(len(arms)), arms)
    axes.set(title=f"{task}: test {results[0]['metric']} (grey: the paper's)", ylabel=results[0]["metric"])
    _save(figure, path)


def draw_mixes(results: Sequence[dict[str, Any]], path: Path, task: str) -> None:
    """The share of each layer in each mix: the paper's Figure 2."""
    rows = []
    mixed = with_mixes(results)
    for arm in ordered_arms(mixed, None):
        for place in ("input", "output"):
            found = [r["mixes"][place]["layers"] for r in mixed if r["arm"] == arm and place in r["mixes"]]
            if found:
                rows.append((f"{arm}, {place}", [statistics.mean(column) for column in zip(*found, strict=True)]))
    if not rows:
        return
    figure, axes = _figure()
    image = axes.imshow([shares for _, shares in rows], vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for y, (_, shares) in enumerate(rows):
        for x, share in enumerate(shares):
            axes.text(x, y, f"{share:.2f}", ha="center", va="center")
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_xticks(range(len(rows[0][1])), [f"layer {n}" for n in range(len(rows[0][1]))])
    axes.set_title(f"{task}: the mixes")
    figure.colorbar(image)
    _save(figure, path)


def draw_curves(results: Sequence[dict[str, Any]], path: Path, task: str) -> None:
    """Scores over the share of the training data: the paper's Figure 1."""
    figure, axes = _figure()
    for arm in ordered_arms(results, None):
        fractions = sorted({r["fraction"] for r in results if r["arm"] == arm})
        if len(fractions) > 1:
            means = [mean_of(results, arm, fraction, "test") for fraction in fractions]
            axes.plot([100 * f for f in fractions], means, marker="o", label=NAMES.get(arm, arm))
    axes.set(title=task, xlabel="% of the training data", ylabel=f"test {results[0]['metric']}", xscale="log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend()
    _save(figure, path)


def _figure() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    return figure, figure.subplots()


def _save(figure: Any, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).print_png(str(path))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--command", default="benchmarks.tasks.run", help="how the results were made, for the table")
    given = parser.parse_args(arguments)
    write_report(read_results(given.results), given.output, given.task, command=given.command)
    print((given.output / f"{given.task}.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
