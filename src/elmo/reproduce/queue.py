"""`RunQueue`: what is to be made next, of all data sets together, and what is finished."""

import logging
import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from elmo.errors import ElmoError
from elmo.reproduce.arms import BASELINE
from elmo.reproduce.choosing import chosen_options
from elmo.reproduce.jobs import AnyJob, Hashes, Sources, TaskJob, job_key, recipe_of
from elmo.reproduce.loading import hashes_of, read_for
from elmo.reproduce.making import forget, headway, line_of, make_run
from elmo.reproduce.mps import multi_process_service
from elmo.reproduce.order import Chosen, ordered_jobs, search_jobs
from elmo.reproduce.pool import Outcome, work
from elmo.reproduce.runs import RunFile
from elmo.reproduce.settings import AnyData, Options, TaskData

logger = logging.getLogger(__name__)


class RunQueue:
    """Jobs by worth. One that does not fit into the time left is put behind others that do.

    But one that is longer than the whole time of a call never fits: it keeps its place, and ends in a later call.
    """

    def __init__(
        self,
        sets: Mapping[str, AnyData],
        names: Sequence[str],
        runs: Iterable[Mapping[str, Any]],
        sources: Sources,
        *,
        seeds: int,
        quick: bool = False,
        again: bool = False,
    ) -> None:
        self.sets, self.names, self.sources = sets, names, sources
        self.seeds, self.quick, self.again = seeds, quick, again
        self.hashes: dict[str, Hashes] = {name: hashes_of(data, sources) for name, data in sets.items()}
        self.runs = {run["key"]: run for run in runs}
        self.begun: set[str] = set()
        self._failed: dict[tuple[str, str], list[AnyJob]] = {}  # by data set and reason
        self._keys: dict[AnyJob, str] = {}

    @property
    def problems(self) -> list[str]:
        """What failed and why; a reason that several runs of a data set share is told once."""
        found = []
        for (_, reason), jobs in self._failed.items():
            others = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
            found.append(f"{jobs[0]}{others}: {reason}")
        return found

    @property
    def chosen(self) -> dict[str, tuple[Options, Options] | None]:
        """The options of each data set, as far as they are known now."""
        found: dict[str, tuple[Options, Options] | None] = {}
        for name, data in self.sets.items():
            if isinstance(data, TaskData):
                searched = [self.runs[key] for job in self._search_of(data) if (key := self.key(job)) in self.runs]
                found[name] = chosen_options(data, searched, again=self.again, quick=self.quick)
        return found

    def wanted_runs(self) -> list[Mapping[str, Any]]:
        """The finished runs that a report of now is about, those of its searches among them."""
        tasks = [data for data in self.sets.values() if isinstance(data, TaskData)]
        jobs = [*self.jobs(), *(job for data in tasks for job in self._search_of(data))]
        wanted = {self.key(job) for job in jobs}
        return [run for key, run in self.runs.items() if key in wanted]

    def jobs(self) -> list[AnyJob]:
        """All jobs that can be made now, finished ones too."""
        chosen: Chosen = self.chosen
        return ordered_jobs(self.sets.values(), self.names, chosen, seeds=self.seeds, quick=self.quick)

    def missing(self) -> list[AnyJob]:
        """Those that are not finished; two arms with the same options are one run."""
        jobs = {self.key(job): job for job in reversed(self.jobs())}
        return [job for key, job in reversed(jobs.items()) if key not in self.runs]

    def take(self, left: float | None, *, whole: float | None = None) -> AnyJob | None:
        """The next one to begin, with `left` seconds of the `whole` time; None if nothing can be begun now."""
        waiting = [job for job in self.missing() if self.key(job) not in self.begun]
        fitting = [job for job in waiting if left is None or _fits(self.seconds(job), left, whole)]
        for job in dict.fromkeys((*fitting, *waiting)):
            self.begun.add(self.key(job))
            try:
                read_for(job, self.sources)
            except ElmoError as error:
                self._fail(job, str(error))
                continue
            return job
        return None

    def make(self, outcome: Outcome[AnyJob], file: RunFile) -> None:
        """Write down what came of a job."""
        if outcome.problem is not None:
            self._fail(outcome.job, outcome.problem)
        elif outcome.made is not None:
            file.add(outcome.made)
            self.runs[outcome.made["key"]] = outcome.made
            forget(outcome.job, self.hashes[outcome.job.data.name], self.sources)
            print(line_of(outcome.made), flush=True)
        else:
            print(f"{outcome.job}: not finished; the same command goes on with it", flush=True)

    def seconds(self, job: AnyJob) -> float:
        """What a job will still take: as runs like it took here, or as the settings say."""
        like = [run["seconds"] for run in self._runs_of(job.data.name) if _is_like(run, job)]
        whole = statistics.mean(like) if like else 60 * job.minutes
        return whole * (1 - headway(job, self.hashes[job.data.name], self.sources).share)

    def key(self, job: AnyJob) -> str:
        """The name of its run."""
        if job not in self._keys:
            self._keys[job] = job_key(job, self.hashes[job.data.name])
        return self._keys[job]

    def _search_of(self, data: TaskData) -> list[TaskJob]:
        """The runs that choose its options; none where the settings have chosen."""
        pinned = data.baseline is not None and data.elmo is not None and not self.again
        return [] if pinned or not data.grid else search_jobs(data, quick=self.quick)

    def _runs_of(self, name: str) -> list[Mapping[str, Any]]:
        """The runs of a data set on the very files and model of now."""
        hashes = self.hashes[name]
        files = {digest[:16] for digest in hashes.files.values()}
        return [
            run
            for run in self.runs.values()
            if run["set"] == name and run["model"] == hashes.model and set(run["files"].values()) <= files
        ]

    def _fail(self, job: AnyJob, problem: str) -> None:
        jobs = self._failed.setdefault((job.data.name, problem.strip().splitlines()[-1]), [])
        jobs.append(job)
        if len(jobs) == 1:
            logger.error("%s: %s", job, problem)


def make_missing(queue: RunQueue, file: RunFile, *, processes: int, minutes: float | None) -> None:
    """Make what is missing, one run after the other or several at once, until the time is over."""
    print(f"{len(queue.jobs())} runs, {len(queue.missing())} to be made", flush=True)
    with multi_process_service(wanted=processes > 1 and queue.sources.device != "cpu") as served:
        if processes > 1:
            print(
                f"{processes} processes, {'with' if served else 'without'} NVIDIA's multi-process service", flush=True
            )
        make = partial(_make, queue.hashes, queue.sources)
        take = partial(queue.take, whole=None if minutes is None else 60 * minutes)
        for outcome in work(take, make, processes=processes, minutes=minutes, device=queue.sources.device):
            queue.make(outcome, file)
    if left := queue.missing():
        first = ", once what failed is mended" if queue.problems else ""
        print(f"{len(left)} runs are missing; the same command makes them{first}", flush=True)


def _make(hashes: Mapping[str, Hashes], sources: Sources, job: AnyJob, left: float | None) -> dict[str, Any] | None:
    return make_run(job, hashes[job.data.name], sources, time_limit=left)


def _fits(seconds: float, left: float, whole: float | None) -> bool:
    return seconds <= left or (whole is not None and seconds > whole)


def _is_like(run: Mapping[str, Any], job: AnyJob) -> bool:
    if not isinstance(job, TaskJob):
        return bool(run["kind"] == job.data.task)
    wanted = ("search" if job.searches else "task", recipe_of(job).train.fraction, job.arm == BASELINE, job.quick)
    found = (run["kind"], run.get("fraction"), run.get("arm") == BASELINE, run.get("quick", False))
    options = [*job.data.set, *(() if job.searches else job.point)]  # other epochs, or batches, take another time
    return bool(found == wanted and run["options"][: len(options)] == options)
