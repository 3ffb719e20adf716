"""Which options are best on dev, for the baseline and for ELMo, each with the same number of runs?

    python -m benchmarks.tasks.search ner --train eng.train --dev eng.testa --model MODEL --vectors glove.npz \
        -o results --seeds 1 --jobs 8 --grid train.learning_rate=0.0005,0.001,0.002 --grid task.model.dropout=0.3,0.5

All combinations of the values are tried; there is no test set here. Every finished run is a line of
results/ner-search.jsonl, and the same command makes only the missing ones. results/ner-search.md has the table, and
results/ner-search.json the options of each arm that had the best mean, as `benchmarks.tasks.run --set` takes them.
"""

import itertools
import json
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.tasks.jobs import ARMS, Job, make_missing, make_parser, model_of

Settings = list[tuple[str, ...]]


def main(arguments: list[str] | None = None) -> None:
    parser = make_parser(__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["baseline", "input"])
    parser.add_argument("--grid", action="append", required=True, metavar="NAME=VALUE,VALUE,...")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    settings = combinations(given.grid)
    jobs = [
        Job(
            given.task, arm, seed, 1.0, given.train, given.dev, None, model_of(arm, given), given.vectors, given.cache,
            given.device, (*given.changes, *setting),
        )
        for seed in range(given.first_seed, given.first_seed + given.seeds)
        for setting in settings
        for arm in given.arms
    ]  # fmt: skip
    name = f"{given.task}-search"
    results = make_missing(jobs, given.output / f"{name}.jsonl", processes=given.jobs, minutes=given.minutes)
    command = " ".join(["python -m benchmarks.tasks.search", *(arguments or sys.argv[1:])])
    text = table(results, settings, given.arms, command=command)
    (given.output / f"{name}.md").write_text(text, encoding="utf-8")
    chosen = {arm: found for arm in given.arms if (found := best(results, settings, arm)) is not None}
    (given.output / f"{name}.json").write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
    print(text)


def combinations(grid: Sequence[str]) -> Settings:
    """All combinations of the values of `NAME=VALUE,VALUE,...`, each a tuple of `NAME=VALUE`."""
    axes = []
    for line in grid:
        name, _, values = line.partition("=")
        axes.append([f"{name}={value}" for value in values.split(",")])
    return list(itertools.product(*axes))


def scores(results: Sequence[dict[str, Any]], setting: tuple[str, ...], arm: str) -> list[float]:
    """The dev scores of a setting, one a seed."""
    return [
        r["dev"][r["metric"]]
        for r in results
        if r["arm"] == arm and tuple(r["given"][-len(setting) :]) == setting  # the last of what it was made from
    ]


def best(results: Sequence[dict[str, Any]], settings: Settings, arm: str) -> tuple[str, ...] | None:
    """The setting with the best mean on dev; the first of equals."""
    tried = {setting: found for setting in settings if (found := scores(results, setting, arm))}
    return max(tried, key=lambda setting: statistics.mean(tried[setting]), default=None)


def table(results: Sequence[dict[str, Any]], settings: Settings, arms: Sequence[str], *, command: str) -> str:
    """The mean on dev of every setting and arm; the best of an arm is bold."""
    names = [change.partition("=")[0] for change in settings[0]]
    lines = [f"Made by `{command}`", "", f"| {' | '.join(names)} | {' | '.join(arms)} |"]
    lines.append("|---" * (len(names) + len(arms)) + "|")
    chosen = {arm: best(results, settings, arm) for arm in arms}
    for setting in settings:
        cells = [change.partition("=")[2] for change in setting]
        for arm in arms:
            found = scores(results, setting, arm)
            cell = ", ".join(f"{score:.2f}" for score in sorted(found))
            if len(found) > 1:
                cell = f"{statistics.mean(found):.2f} ({cell})"
            cells.append(f"**{cell}**" if setting == chosen[arm] else cell)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
