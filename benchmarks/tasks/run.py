"""What does ELMo add to a task? Baseline, ELMo at the input, at both places, the top layer alone; several seeds each.

    python -m benchmarks.tasks.run ner --train eng.train --dev eng.testa --test eng.testb \
        --model MODEL --vectors glove.npz -o results --seeds 5 --jobs 8

Every finished run is a line of results/ner.jsonl; the same command again makes only the missing ones, so it can be
stopped at any time (`--minutes` does it). Then results/ner.md (the table beside the paper's) and the plots are made.
`--fractions 0.01 0.1 1` gives the learning curves, with more epochs for less data. `--set train.rate=0.002` changes an
option of all arms alike. Several processes (`--jobs`) share a GPU, through NVIDIA's multi-process service where it can
be started: a task's steps are small and leave it idle. Layers of the frozen biLM are computed once, kept in `--cache`,
and copied to the device by each process.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.tasks.mps import multi_process_service
from benchmarks.tasks.report import read_results, write_report
from elmo.tasks.recipes import RECIPES, Recipe, find_recipe, parse_change

ARMS: dict[str, dict[str, Any]] = {
    "baseline": {"embedding.elmo.where": "none"},
    "input": {"embedding.elmo.where": "input"},
    "both": {"embedding.elmo.where": "both"},
    "top": {"embedding.elmo.where": "input", "embedding.elmo.layers": "top"},
}


class Job(NamedTuple):
    """One training run. Strings only, so that a process of its own can make it."""

    task: str
    arm: str
    seed: int
    fraction: float
    train: str
    dev: str
    test: str
    model: str
    vectors: str | None
    cache: str
    device: str | None
    changes: tuple[str, ...]

    @property
    def given(self) -> list[str | None]:
        """What it is made from: results of other data, models or options are not its own."""
        return [self.train, self.dev, self.test, self.model, self.vectors, *self.changes]

    @property
    def key(self) -> str:
        """What tells it from the other runs of the same results."""
        return json.dumps([self.arm, self.seed, self.fraction, self.given])


def train(job: Job) -> dict[str, Any]:
    """Make one run and tell its scores."""
    from elmo.tasks.trainer import train_task

    changes = {**ARMS[job.arm], "train.seed": job.seed, "train.fraction": job.fraction}
    changes |= dict(map(parse_change, job.changes))
    recipe = longer(find_recipe(job.task).changed(changes))
    bilm = None if recipe.embedding.elmo.where == "none" else _bilm(job.model)
    folder = tempfile.mkdtemp(prefix="elmo-task-")
    began = time.perf_counter()
    read = {name: _examples(job.task, path, job.changes) for name, path in job._asdict().items() if name in _PARTS}
    try:
        result = train_task(
            job.task,
            recipe,
            read["train"],
            read["dev"],
            Path(folder) / "run",
            bilm=bilm,
            vectors=_vectors(job.vectors),
            device=job.device,
            store=_store(job.cache),
            progress_bar=False,
        )
        assert result.trained is not None, "interrupted"
        test = result.trained.evaluate(read["test"], store=_store(job.cache))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    times = sorted(result.epoch_seconds)
    return {
        "task": job.task,
        "arm": job.arm,
        "seed": job.seed,
        "fraction": job.fraction,
        "given": job.given,
        "metric": recipe.make_task().metric,
        "dev": result.scores,
        "test": test,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "epoch_seconds": times[len(times) // 2],
        "seconds": round(time.perf_counter() - began, 1),
        "mixes": result.trained.embedding.mix_weights(),
        "bilm": None if bilm is None else bilm.sha256,
    }


_PARTS = ("train", "dev", "test")


def key_of(result: dict[str, Any]) -> str:
    """The key of the job that a result is of."""
    return json.dumps([result["arm"], result["seed"], result["fraction"], result["given"]])


def longer(recipe: Recipe) -> Recipe:
    """More epochs for a fraction of the data, by the root of what is missing: too few steps would teach little."""
    times = recipe.train.fraction**-0.5
    patience = recipe.train.patience
    return recipe.changed(
        {
            "train.epochs": round(recipe.train.epochs * times),
            "train.patience": None if patience is None else round(patience * times),
        }
    )


@cache
def _bilm(path: str) -> Any:
    from elmo.weights.formats import read_model

    return read_model(path)


@cache
def _vectors(path: str | None) -> Any:
    from elmo.tasks.wordvectors import read_word_vectors

    return None if path is None else read_word_vectors(path)


@cache
def _store(folder: str) -> Any:
    from elmo.tasks.layercache import CacheConfig, LayerStore

    return LayerStore(CacheConfig(folder=Path(folder)))


@cache
def _examples(task: str, path: str, changes: tuple[str, ...]) -> Any:
    return find_recipe(task).changed(dict(map(parse_change, changes))).make_task().read(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=RECIPES)
    for part in _PARTS:
        parser.add_argument(f"--{part}", required=True)
    parser.add_argument("--model", required=True, help="the biLM")
    parser.add_argument("--vectors", help="static word vectors")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--fractions", type=float, nargs="+", default=[1.0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--minutes", type=float, help="begin no run after so long")
    parser.add_argument("--cache", default=str(Path(tempfile.gettempdir()) / "elmo-task-layers"))
    parser.add_argument("--device")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    results = given.output / f"{given.task}.jsonl"
    jobs = [
        Job(
            given.task, arm, seed, fraction, given.train, given.dev, given.test, given.model, given.vectors,
            given.cache, given.device, tuple(given.changes),
        )
        for fraction in given.fractions
        for seed in range(given.first_seed, given.first_seed + given.seeds)
        for arm in given.arms
    ]  # fmt: skip
    wanted = {job.key for job in jobs}
    done = {key_of(result) for result in read_results([results])}
    missing = [job for job in jobs if job.key not in done]
    print(f"{len(jobs)} runs, {len(missing)} to be made", flush=True)
    deadline = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    with open(results, "a", encoding="utf-8") as file:
        for result in make_all(missing, processes=given.jobs, deadline=deadline):
            file.write(json.dumps(result) + "\n")
            file.flush()
            score = result["test"][result["metric"]]
            print(
                f"{result['arm']:9} seed {result['seed']} fraction {result['fraction']:g}: "
                f"dev {result['dev'][result['metric']]:.2f} test {score:.2f}, best epoch {result['best_epoch']} of "
                f"{result['epochs']}, {result['epoch_seconds']:.2f} s an epoch, {result['seconds']:.0f} s in all",
                flush=True,
            )
    command = " ".join(["python -m benchmarks.tasks.run", *(arguments or sys.argv[1:])])
    alike = [r for r in read_results([results]) if key_of(r) in wanted]
    write_report(alike, given.output, given.task, command=command)
    print((given.output / f"{given.task}.md").read_text("utf-8"))
    if len(alike) < len(jobs):
        print(f"{len(jobs) - len(alike)} runs are missing; the same command makes them", file=sys.stderr)


def make_all(jobs: list[Job], *, processes: int, deadline: float | None) -> Any:
    """The results of all jobs as they come; none is begun after the deadline."""

    def late() -> bool:
        return deadline is not None and time.monotonic() > deadline

    if processes == 1:
        for job in jobs:
            if late():
                return
            yield train(job)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    waiting = list(jobs)
    running: set[Future[dict[str, Any]]] = set()
    spawn = multiprocessing.get_context("spawn")
    with multi_process_service() as served, ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        print(f"{processes} processes, {'with' if served else 'without'} the multi-process service", flush=True)
        while waiting or running:
            while waiting and len(running) < processes and not late():
                running.add(pool.submit(train, waiting.pop(0)))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                if future.exception() is None:
                    yield future.result()
                else:  # the other runs are worth having; this one is made when the command is given again
                    print("".join(traceback.format_exception(future.exception())), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
