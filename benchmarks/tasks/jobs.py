"""One training run of a task as a value (`Job`), for benchmarks that judge models by what they add to a task.

The paper's tables are made by `elmo reproduce`, whose processes and arms these are.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from elmo.reproduce.arms import ARMS
from elmo.reproduce.jobs import longer
from elmo.reproduce.making import dev_history
from elmo.reproduce.mps import multi_process_service
from elmo.reproduce.pool import work
from elmo.tasks.recipes import find_recipe, parse_change

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

    @property
    def files(self) -> dict[str, str]:
        """Its data by name."""
        return {"train": self.train, "dev": self.dev} | ({} if self.test is None else {"test": self.test})

    @property
    def given(self) -> list[str | None]:
        """What it is made from: results of other data, models or options are not its own."""
        return [self.train, self.dev, self.test, self.model, self.vectors, *self.changes]


def train(job: Job) -> dict[str, Any]:
    """Make one run and tell its scores."""
    from elmo.tasks.training.trainer import train_task

    changes = dict(map(parse_change, ARMS[job.arm].options))
    changes |= {"train.seed": job.seed, "train.fraction": job.fraction, **dict(map(parse_change, job.changes))}
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
    }


def make_all(
    jobs: Sequence[J], make: Callable[[J], dict[str, Any]], *, processes: int, deadline: float | None
) -> Iterator[dict[str, Any]]:
    """What `make` gives for all jobs, as it comes; none is begun after the deadline."""
    waiting = list(jobs)

    def take(_left: float | None) -> J | None:
        late = deadline is not None and time.monotonic() > deadline
        return None if late or not waiting else waiting.pop(0)

    if processes == 1:
        while (job := take(None)) is not None:
            yield make(job)
        return
    with multi_process_service():
        for outcome in work(take, partial(_of_job, make), processes=processes, minutes=None):
            if outcome.made is not None:
                yield outcome.made
            else:  # the other runs are worth having; this one is made when the command is given again
                print(outcome.problem, file=sys.stderr, flush=True)


def read_results(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """All finished runs."""
    lines = [line for path in paths if path.is_file() for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def _of_job(make: Callable[[J], dict[str, Any]], job: J, _left: float | None) -> dict[str, Any]:
    return make(job)


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
