"""`elmo embed --engine ray` with one worker beside `elmo embed`: what does more text cost, in processor time?

A long text less a short one, so that neither counts its start: Ray's dozen processes need some ten seconds for theirs.
"""

import os
import sys
from pathlib import Path

from benchmarks.bulk.processes import processor_seconds
from benchmarks.bulk.text import write_text
from elmo.embed.bulk.parts import available_cores
from elmo.text.tokenizer import Tokenizer

SHORT = 0.25  # of the long text
WORKER = "ray::Map"  # how the names of Ray's workers begin that run our class
ALONE, ALL, WORKERS = "one process", "Ray, all its processes", "Ray's worker"


def time_ray(folder: Path, *, tokens: int, given: list[str]) -> None:
    """`given` are options for both commands."""
    texts = [folder / "short.txt", folder / "long.txt"]
    for path, share in zip(texts, (SHORT, 1.0), strict=True):
        write_text(path, tokens=round(share * tokens))
    counts = [sum(len(Tokenizer().tokenize(line)) for line in path.read_text("utf-8").splitlines()) for path in texts]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    one_worker = ["--engine", "ray", "--workers", "1", "--worker-cpus", str(available_cores())]
    spent: dict[str, list[float]] = {ALONE: [], ALL: [], WORKERS: []}
    for path in texts:
        command = [sys.executable, "-m", "elmo", "embed", str(path), *given]
        alone = processor_seconds([*command, "-o", str(path.with_suffix(".parquet"))], environment=environment)
        ray = processor_seconds([*command, "-o", str(path.with_suffix("")), *one_worker], environment=environment)
        spent[ALONE].append(sum(alone.values()))
        spent[ALL].append(sum(ray.values()))
        spent[WORKERS].append(sum(seconds for name, seconds in ray.items() if name.startswith(WORKER)))
    costs = {name: (long - short) / (counts[1] - counts[0]) for name, (short, long) in spent.items()}
    for name, (short, long) in spent.items():
        said = f"{name}: {short:.1f} s for {counts[0]:,} tokens, {long:.1f} s for {counts[1]:,}"
        if min(costs[name], costs[ALONE]) <= 0:
            print(f"{said}; too few tokens to tell them from the start", flush=True)
        else:
            print(f"{said}; {costs[ALONE] / costs[name]:.3f} of the rate of one process", flush=True)
