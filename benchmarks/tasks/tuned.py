"""Does a biLM tuned on a task's own sentences do better in it? Tuned against untuned, several seeds, several tasks.

    python -m benchmarks.tasks.tuned sets.toml --model english -o results --seeds 5 --jobs 10 --minutes 8

`sets.toml` names the data, a table each: `[conll]`, then `task = "ner"`, `train`, `dev` and `test` (paths from the
file's folder), and `set = ["task.label_column=3"]` where options differ. Each set's runs are those of
`benchmarks.tasks.run` with the arms `input` and `tuned`, kept in results/SET; the same command makes what is missing,
as often as it is stopped. results/tuned.md has two tables: the scores, with the difference and the deviations of the
seeds; and the held-out perplexity of each task's sentences before and after, as the paper's Table 7 has it.
"""

import argparse
import datetime
import statistics
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.tasks.jobs import Job, make_missing
from elmo.tasks.recipes import RECIPES

ARMS = ("input", "tuned")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", type=Path, help="a TOML file, a table for each data set")
    parser.add_argument("--model", default="english", help="the biLM")
    parser.add_argument("--vectors", help="static word vectors")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--minutes", type=float, help="begin no run after so long, for each set")
    parser.add_argument("--cache", default=str(Path(tempfile.gettempdir()) / "elmo-task-layers"))
    parser.add_argument("--device")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(arguments)
    found: dict[str, list[dict[str, Any]]] = {}
    for name, values in read_sets(given.sets).items():
        folder = given.output / name
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{name}:", flush=True)
        jobs = [
            Job(
                values["task"], arm, seed, 1.0, values["train"], values["dev"], values["test"], given.model,
                given.vectors, given.cache, given.device, (*values["set"], *given.changes), arm == "tuned",
            )
            for seed in range(1, given.seeds + 1)
            for arm in ARMS
        ]  # fmt: skip
        results = folder / f"{values['task']}.jsonl"
        found[name] = make_missing(jobs, results, processes=given.jobs, minutes=given.minutes)
    command = " ".join(["python -m benchmarks.tasks.tuned", *(arguments or sys.argv[1:])])
    (given.output / "tuned.md").write_text(tables(found, command=command), encoding="utf-8")
    print((given.output / "tuned.md").read_text("utf-8"))


def read_sets(path: Path) -> dict[str, dict[str, Any]]:
    """The data sets, with absolute paths; what is missing or unknown is said."""
    sets: dict[str, dict[str, Any]] = {}
    for name, values in tomllib.loads(path.read_text("utf-8")).items():
        if not isinstance(values, dict) or not {"task", "train", "dev", "test"} <= values.keys():
            raise SystemExit(f"{path}: [{name}] must have task, train, dev and test")
        if values["task"] not in RECIPES:
            raise SystemExit(f"{path}: [{name}]: task is {values['task']!r}; it must be one of {', '.join(RECIPES)}")
        files = {key: str((path.parent / values[key]).resolve()) for key in ("train", "dev", "test")}
        if missing := [file for file in files.values() if not Path(file).exists()]:
            raise SystemExit(f"{path}: [{name}]: {missing[0]} is not there")
        sets[name] = {"task": values["task"], "set": values.get("set", []), **files}
    return sets


def tables(found: dict[str, list[dict[str, Any]]], *, command: str) -> str:
    """Scores of both arms, and the perplexities, of all sets that have runs."""
    lines = [
        "# Tuned on the task's own sentences, against not",
        "",
        f"Made on {datetime.date.today().isoformat()} by `{command}`",
        "",
        "| set | score | seeds | untuned: dev | test | tuned: dev | test | difference on test |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in found.items():
        pairs = {arm: [r for r in runs if r["arm"] == arm] for arm in ARMS}
        if not all(pairs.values()):
            lines.append(f"| {name} | no runs yet | | | | | | |")
            continue
        untuned, tuned = (scores(pairs[arm], "test") for arm in ARMS)
        cells = [spread(scores(pairs[arm], part)) for arm in ARMS for part in ("dev", "test")]
        difference = statistics.mean(tuned) - statistics.mean(untuned)
        seeds = f"{len(untuned)} and {len(tuned)}"
        lines.append(f"| {name} | {runs[0]['metric']} | {seeds} | {' | '.join(cells)} | {difference:+.2f} |")
    lines += [
        "",
        "Held-out perplexity of the tasks' training sentences (full softmax, state carried; the paper's Table 7):",
        "",
        "| set | sentences | words to train on | out of vocabulary | before | after |",
        "|---|---|---|---|---|---|",
    ]
    for name, runs in found.items():
        for tuning in [r["tuning"] for r in runs if r["arm"] == "tuned"][:1]:
            after = f"{tuning['after']:.2f}" + ("" if tuning["gained"] else " (left as it was)")
            lines.append(
                f"| {name} | {tuning['sentences']:,} | {tuning['words']:,} | {tuning['outside']:.2%} "
                f"| {tuning['before']:.2f} | {after} |"
            )
    return "\n".join([*lines, ""])


def scores(runs: list[dict[str, Any]], part: str) -> list[float]:
    return [run[part][run["metric"]] for run in runs]


def spread(values: list[float]) -> str:
    """Mean and deviation."""
    deviation = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{deviation}"


if __name__ == "__main__":
    main()
