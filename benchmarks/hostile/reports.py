"""The readers of `elmo reproduce`: the file of data sets, and the raw runs that a report is made of."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.hostile.mutations import mutate_json_lines, mutate_text
from benchmarks.hostile.target import Target
from elmo.reproduce.catalogue import CATALOGUE, listing
from elmo.reproduce.choosing import chosen_options
from elmo.reproduce.report.build import comparisons, report_parts, write_report
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.runs import read_runs
from elmo.reproduce.settings import AnyData, TaskData, missing_files, read_settings

SETTINGS = b"""[names]
title = "names"
task = "ner"
train = "train.txt"
dev = "dev.txt"
test = "test.txt"
metric = "f1"
paper = "ner"
seeds = 2
set = ["train.epochs=2"]
grid = ["train.learning_rate=0.001,0.01"]
fractions = [0.5]

[tags]
title = "tags"
task = "probe"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"

[wsd]
title = "senses"
task = "senses"
train = "train.data.xml"
index = "index.sense"
tests = ["test.data.xml"]
"""
POINTS = ("train.learning_rate=0.001", "train.learning_rate=0.01")
MADE = {
    "seconds": 60.0,
    "date": "2026-01-02",
    "device": "cpu",
    "model": "ab" * 32,
    "vectors": None,
    "files": {"train": "12ab"},
    "versions": {"elmo": "0.1.0"},
}
TUNING = {"gained": True, "before": 200.0, "after": 50.0, "outside": 0.08, "sentences": 9, "words": 99}
WHERE = {"baseline": None, "input": "input", "both": "both", "top": "input", "lambda 1": "input", "tuned": "input"}


def report_targets() -> list[Target]:
    """One for each file."""
    sets: dict[str, AnyData] = {}

    def settings(path: Path) -> object:
        found = read_settings(path / "sets.toml")
        return list(listing(found)), [missing_files(data, path) for data in found.values()]

    def report(path: Path) -> object:
        if not sets:
            (path / "sets.toml").write_bytes(SETTINGS)
            sets.update(read_settings(path / "sets.toml"))
        runs = read_runs([path / "runs"])
        tasks = [data for data in sets.values() if isinstance(data, TaskData)]
        chosen = {data.name: chosen_options(data, runs, again=False) for data in tasks}
        titles = {name: data.title for name, data in sets.items()}
        parts, findings = report_parts(list(CATALOGUE), comparisons(tasks, runs, chosen), runs, titles)
        write_report(path / "out", parts, findings, Facts(date="2026-01-02", command="elmo reproduce", runs=runs))
        return parts

    runs = {"runs/a.jsonl": "".join(json.dumps(run) + "\n" for run in _runs()).encode()}
    return [
        Target("data sets", {"sets.toml": SETTINGS}, "sets.toml", mutate_text, settings),
        Target("raw runs", runs, "runs/a.jsonl", mutate_json_lines, report),
    ]


def _runs() -> list[dict[str, Any]]:
    search = [
        _task(arm, 1, 40.0 + n, kind="search", point=[point], test=None)
        for arm in ("baseline", "input")
        for n, point in enumerate(POINTS)
    ]
    chosen = partial(_task, point=[POINTS[1]])
    whole = [chosen(arm, seed, 50.0 + seed + n) for n, arm in enumerate(WHERE) for seed in (1, 2)]
    half = [chosen(arm, 1, 30.0, fraction=0.5) for arm in ("baseline", "input")]
    scores = [
        {"name": name, "instances": 9, "first": 65.0, "layers": [70.0, 71.0, 72.0], "mean": 71.0} for name in "ab"
    ]
    return [
        *search,
        *whole,
        *half,
        {"key": "s", "kind": "senses", "set": "wsd", "task": "senses", "scores": scores, **MADE},
        *(
            {"key": f"p{seed}", "kind": "probe", "set": "tags", "task": "probe", "seed": seed, **MADE}
            | {"dev": [90.0, 91.0, 92.0], "test": [91.0, 92.0, 93.0]}
            for seed in (1, 2)
        ),
    ]


def _task(
    arm: str, seed: int, score: float, *, point: list[str], kind: str = "task", fraction: float = 1.0, **more: Any
) -> dict[str, Any]:
    where = WHERE[arm]
    places = {None: (), "both": ("input", "output")}.get(where, (where,))
    elmo = {"where": where, "layers": "top" if arm == "top" else "all", "mix_l2": 1.0 if arm == "lambda 1" else 0.001}
    return {
        "key": f"{kind} {arm} {seed} {fraction} {point}",
        "kind": kind,
        "set": "names",
        "task": "ner",
        "arm": arm,
        "seed": seed,
        "fraction": fraction,
        "point": point,
        "options": ["train.epochs=2", *point, f"train.seed={seed}"],
        "elmo": elmo if where else None,
        "metric": "f1",
        "dev": {"f1": score, "recall": score},
        "test": {"f1": score, "recall": score, "f1 PER": 9.0},
        "history": [[10, score - 9], [20, score]],
        "updates": 20,
        "best_epoch": 2,
        "epochs": 2,
        "epoch_seconds": 1.5,
        "mixes": {place: {"layers": [0.2, 0.5, 0.3], "gamma": 1.5} for place in places},
        "tuning": {**TUNING, "sha256_before": "ab" * 32} if arm == "tuned" else None,
        **MADE,
        **more,
    }
