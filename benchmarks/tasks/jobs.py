"""One training run of a task as a value (`Job`), and many of them in several processes.

Several processes share a GPU, through NVIDIA's multi-process service where it can be started: a task's steps are small
and leave it idle. Layers of the frozen biLM are computed once, kept in a folder, and copied to the device by each.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchmarks.tasks.report import read_results
from elmo.reproduce.mps import multi_process_service
from elmo.tasks.recipes import RECIPES, Recipe, find_recipe, parse_change

ARMS: dict[str, dict[str, Any]] = {
    "baseline": {"embedding.elmo.where": "none"},
    "input": {"embedding.elmo.where": "input"},
    "both": {"embedding.elmo.where": "both"},
    "top": {"embedding.elmo.where": "input", "embedding.elmo.layers": "top"},
    "output": {"embedding.elmo.where": "output"},
    "lambda 1": {"embedding.elmo.where": "input", "embedding.elmo.mix_l2": 1.0},  # the mix stays near the average
    "tuned": {"embedding.elmo.where": "input"},  # biLM of --tuned-model, or tuned on the sentences
}
USUAL_ARMS = ("baseline", "input", "both", "top")

J = TypeVar("J")


class Job(NamedTuple):
    """One training run. Strings only, so that a process of its own can make it."""

    task: str
    arm: str
    seed: int
    fraction: float
    train: str
    dev: str
    test: str | None  # None: not looked at
    model: str
    vectors: str | None
    cache: str
    device: str | None
    changes: tuple[str, ...]
    tunes: bool = False  # whether the biLM is tuned on the training sentences first

    @property
    def files(self) -> dict[str, str]:
        """Its data by name."""
        return {"train": self.train, "dev": self.dev} | ({} if self.test is None else {"test": self.test})

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
    from elmo.tasks.training.trainer import train_task

    changes = {**ARMS[job.arm], "train.seed": job.seed, "train.fraction": job.fraction}
    changes |= dict(map(parse_change, job.changes))
    recipe = longer(find_recipe(job.task).changed(changes))
    model = None if recipe.embedding.elmo.where == "none" else _model(job.model)
    folder = tempfile.mkdtemp(prefix="elmo-task-")
    began = time.perf_counter()
    of_task = tuple(change for change in job.changes if change.startswith("task."))
    read = {name: _examples(job.task, path, of_task) for name, path in job.files.items()}
    try:
        result = train_task(
            job.task,
            recipe,
            read["train"],
            read["dev"],
            Path(folder) / "run",
            model=model,
            vectors=_vectors(job.vectors),
            device=job.device,
            store=_store(job.cache),
            progress_bar=False,
            tuned=Path(job.cache) / "tuned" if job.tunes else None,
        )
        assert result.trained is not None, "interrupted"
        test = result.trained.evaluate(read["test"], store=_store(job.cache)) if "test" in read else None
        history = dev_history(Path(folder) / "run", result.trained.task.metric)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    times, reference = sorted(result.epoch_seconds), result.trained.bilm_reference
    return {
        "task": job.task,
        "arm": job.arm,
        "seed": job.seed,
        "fraction": job.fraction,
        "given": job.given,
        "metric": result.trained.task.metric,
        "dev": result.scores,
        "test": test,
        "history": history,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "epoch_seconds": times[len(times) // 2],
        "seconds": round(time.perf_counter() - began, 1),
        "mixes": result.trained.embedding.mix_weights(),
        "bilm": None if reference is None else reference.sha256,
        "tuning": None if reference is None or reference.tuning is None else dataclasses.asdict(reference.tuning),
    }


def dev_history(run: Path, metric: str) -> list[tuple[int, float]]:
    """The updates made and the score on dev at the end of each epoch."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text("utf-8").splitlines())
    return [(line["step"], line[metric]) for line in lines if line["kind"] == "dev"]


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
def _model(path: str) -> Any:
    from elmo.weights.formats import read_model

    return read_model(path)


@cache
def _vectors(path: str | None) -> Any:
    from elmo.tasks.embedding.wordvectors import read_word_vectors

    return None if path is None else read_word_vectors(path)


@cache
def _store(folder: str) -> Any:
    from elmo.tasks.embedding.layercache import CacheConfig, LayerStore

    return LayerStore(CacheConfig(folder=Path(folder)))


@cache
def _examples(task: str, path: str, changes: tuple[str, ...]) -> Any:
    return find_recipe(task).changed(dict(map(parse_change, changes))).make_task().read(path)


def model_of(arm: str, given: argparse.Namespace) -> str:
    """The biLM of an arm."""
    return str(given.model if arm != "tuned" or given.tuned_model is None else given.tuned_model)


def missing_jobs(jobs: list[Job], results: Path) -> list[Job]:
    """Those that have no line in the file of results."""
    done = {key_of(result) for result in read_results([results])}
    return [job for job in jobs if job.key not in done]


def make_missing(jobs: list[Job], results: Path, *, processes: int, minutes: float | None) -> list[dict[str, Any]]:
    """Make the jobs that have no line in the file of results, adding theirs; the results of all that are finished."""
    missing = missing_jobs(jobs, results)
    print(f"{len(jobs)} runs, {len(missing)} to be made", flush=True)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    with open(results, "a", encoding="utf-8") as file:
        for result in make_all(missing, train, processes=processes, deadline=deadline):
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(describe(result), flush=True)
    wanted = {job.key for job in jobs}
    finished = [result for result in read_results([results]) if key_of(result) in wanted]
    if len(finished) < len(jobs):
        print(f"{len(jobs) - len(finished)} runs are missing; the same command makes them", file=sys.stderr)
    return finished


def describe(result: dict[str, Any]) -> str:
    """A run in one line."""
    metric, test = result["metric"], result["test"]
    return (
        f"{result['arm']:9} seed {result['seed']} fraction {result['fraction']:g}: dev {result['dev'][metric]:.2f}"
        f"{'' if test is None else f' test {test[metric]:.2f}'}, best epoch {result['best_epoch']} of "
        f"{result['epochs']}, {result['epoch_seconds']:.2f} s an epoch, {result['seconds']:.0f} s in all"
    )


def make_all(
    jobs: Sequence[J], make: Callable[[J], dict[str, Any]], *, processes: int, deadline: float | None
) -> Iterator[dict[str, Any]]:
    """What `make` gives for all jobs, as it comes; none is begun after the deadline."""

    def late() -> bool:
        return deadline is not None and time.monotonic() > deadline

    if processes == 1:
        for job in jobs:
            if late():
                return
            yield make(job)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    waiting = list(jobs)
    running: set[Future[dict[str, Any]]] = set()
    spawn = multiprocessing.get_context("spawn")
    with multi_process_service() as served, ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        print(f"{processes} processes, {'with' if served else 'without'} the multi-process service", flush=True)
        while waiting or running:
            while waiting and len(running) < processes and not late():
                running.add(pool.submit(make, waiting.pop(0)))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                if future.exception() is None:
                    yield future.result()
                else:  # the other runs are worth having; this one is made when the command is given again
                    print("".join(traceback.format_exception(future.exception())), file=sys.stderr, flush=True)


def make_parser(description: str) -> argparse.ArgumentParser:
    """The options that all commands with jobs have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("task", choices=RECIPES)
    parser.add_argument("--train", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--model", required=True, help="the biLM")
    parser.add_argument("--tuned-model", help="the biLM of the arm `tuned`; made if not given")
    parser.add_argument("--vectors", help="static word vectors")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--minutes", type=float, help="begin no run after so long")
    parser.add_argument("--cache", default=str(Path(tempfile.gettempdir()) / "elmo-task-layers"))
    parser.add_argument("--device")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    return parser
