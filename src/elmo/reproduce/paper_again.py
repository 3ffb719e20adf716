"""`reproduce_paper`: everything that is wanted, as far as the data that are there allow, and the report of it."""

import datetime
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.errors import ElmoError, InputError
from elmo.reproduce.catalogue import CATALOGUE, data_of
from elmo.reproduce.choosing import chosen_lines
from elmo.reproduce.jobs import Sources
from elmo.reproduce.near import table_4
from elmo.reproduce.packaged import NOUNS_VERBS, sense_shares, tag_shares, write_nouns_verbs
from elmo.reproduce.queue import RunQueue, make_missing
from elmo.reproduce.report.build import PAGE, comparisons, report_parts, write_report
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.report.layers import small_table_5, small_table_6
from elmo.reproduce.report.parts import ReportPart
from elmo.reproduce.runs import RUNS, RunFile, read_runs
from elmo.reproduce.settings import AnyData, ProbeData, SenseData, TaskData, missing_files

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """What is to be made, of what, and how much of it. `data`: the folder of the data sets, if there is one."""

    names: Sequence[str]
    settings: Mapping[str, AnyData]
    output: Path
    cache: Path
    model: str
    command: str
    data: Path | None = None
    vectors: Path | None = None
    index: Path | None = None
    train_vectors: bool = False  # word2vec, for Table 4
    seeds: int = 5
    processes: int = 1
    minutes: float | None = None
    quick: bool = False
    search: bool = False
    device: str | None = None


def reproduce_paper(wishes: ReproduceOptions) -> list[str]:
    """Make what is missing and write the report; what failed, a line each."""
    if wishes.data is not None and not wishes.data.is_dir():
        raise InputError(f"{wishes.data}: is no folder; --data names the one that has the data sets")
    wanted = {data.name: data for name in wishes.names for data in data_of(name, wishes.settings)}
    there = {name: data for name, data in wanted.items() if not missing_files(data, wishes.data)}
    missing = [_told_missing(data, wishes.data) for name, data in wanted.items() if name not in there]
    for line in missing:
        print(line, flush=True)
    queues = []
    if there:
        queues.append(_queue(there, wishes.names, wishes.data or Path(), wishes))
    if "figure2" in wishes.names and not any(isinstance(data, TaskData) for data in there.values()):
        folder = wishes.cache / "packaged"
        packaged = write_nouns_verbs(folder)
        plain = replace(wishes, quick=False, vectors=None, seeds=1)
        queues.append(_queue({packaged.name: packaged}, ["figure2"], folder, plain))
    file = RunFile(wishes.output / RUNS)
    for queue in queues:
        with _threads(1 if NOUNS_VERBS in queue.sets else None):
            make_missing(queue, file, processes=wishes.processes, minutes=wishes.minutes)
    problems = [problem for queue in queues for problem in queue.problems]
    problems += _write(wishes, there, queues, missing)
    print(f"the report is {wishes.output / PAGE}", flush=True)
    return problems


def _queue(sets: Mapping[str, AnyData], names: Sequence[str], data: Path, wishes: ReproduceOptions) -> RunQueue:
    sources = Sources(data=data, model=wishes.model, vectors=wishes.vectors, cache=wishes.cache, device=wishes.device)
    return RunQueue(
        sets,
        names,
        read_runs([wishes.output / RUNS]),
        sources,
        seeds=1 if wishes.quick else wishes.seeds,
        quick=wishes.quick,
        again=wishes.search,
    )


def _write(
    wishes: ReproduceOptions, there: Mapping[str, AnyData], queues: Sequence[RunQueue], missing: list[str]
) -> list[str]:
    sets, runs = [], list[Mapping[str, Any]]()
    for queue in queues:
        made = queue.wanted_runs()
        tasks = [data for data in queue.sets.values() if isinstance(data, TaskData)]
        sets += comparisons(tasks, made, queue.chosen, quick=queue.quick)
        runs += made
        for name, points in queue.chosen.items():
            if points is not None and queue.again:
                print(chosen_lines(name, points), flush=True)
    titles = {name: data.title for queue in queues for name, data in queue.sets.items()}
    parts, findings = report_parts([name for name in wishes.names if name != "table4"], sets, runs, titles)
    small, problems = _small_parts(wishes, there)
    parts = sorted([*(part for part in parts if part.name not in small), *small.values()], key=_place)
    if not any(data.paper for data in there.values() if isinstance(data, TaskData)):
        findings = []
    date = datetime.date.today().isoformat()
    write_report(wishes.output, parts, findings, Facts(date=date, command=wishes.command, runs=runs, missing=missing))
    return problems


def _small_parts(wishes: ReproduceOptions, there: Mapping[str, AnyData]) -> tuple[dict[str, ReportPart], list[str]]:
    """What is made of the packaged sentences, or of an index, by this very process, and what could not be made."""
    kinds = {type(data) for data in there.values()}
    large = {name for name, kind in (("table5", SenseData), ("table6", ProbeData)) if kind in kinds}
    wanted = (set(wishes.names) & {"table4", "table5", "table6"}) - large
    if not wanted:
        return {}, []
    embedder: Embedder = load(wishes.model, device=wishes.device)
    found: dict[str, ReportPart] = {}
    problems: list[str] = []
    if "table4" in wanted:
        from elmo.analysis.index import open_index

        try:
            index = None if wishes.index is None else open_index(wishes.index)
            found["table4"] = table_4(embedder, index=index, vectors=wishes.vectors, train_vectors=wishes.train_vectors)
        except ElmoError as error:  # the runs of hours are not to be without a report for it
            problems.append(f"table4: {error}")
            logger.error("%s", problems[-1])
    if "table5" in wanted:
        found["table5"] = small_table_5(sense_shares(embedder))
    if "table6" in wanted:
        found["table6"] = small_table_6(tag_shares(embedder))
    return found, problems


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """Torch's threads: a second one costs a step on a few short sentences more than it gives."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _place(part: ReportPart) -> int:
    return list(CATALOGUE).index(part.name) if part.name in CATALOGUE else len(CATALOGUE)


def _told_missing(data: AnyData, folder: Path | None) -> str:
    what = "no folder of data is given (--data)" if folder is None else f"{missing_files(data, folder)[0]} is not there"
    return f"{data.name} ({data.title}): {what}. It can be had at {data.where}"
