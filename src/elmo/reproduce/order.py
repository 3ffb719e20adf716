"""Which runs tables and figures need, in the order in which they are worth most.

Table 1 comes first, a seed of every data set before a second one; then one seed of what the paper has besides; then the
other seeds. Whenever the time is over, all that can be told is told of every task.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from elmo.reproduce.arms import ARMS_OF, BASELINE, INPUT, TUNED
from elmo.reproduce.jobs import QUICK, AnyJob, ProbeJob, SenseJob, TaskJob, recipe_of
from elmo.reproduce.paper import TABLE2
from elmo.reproduce.settings import AnyData, Options, ProbeData, SenseData, TaskData

Chosen = Mapping[str, tuple[Options, Options] | None]  # of each data set: for the baseline, for ELMo; None: not yet
MAIN = SEARCHED = (BASELINE, INPUT)
FORMS = ("both", "output", "top", "lambda 1", "lambda 0.001")
SOLID = 3  # seeds of Table 1 that come before the other tables
_IN_PAPER = ("table2", "table3", "figure2")  # of the data sets that stand for one of the paper's, if any does


def search_jobs(data: TaskData, *, quick: bool = False) -> list[TaskJob]:
    """As many runs for the baseline as for ELMo, each point once."""
    return [
        TaskJob(data=data, arm=arm, seed=1, point=point, searches=True, quick=quick)
        for point in data.points
        for arm in SEARCHED
    ]


def ordered_jobs(
    sets: Iterable[AnyData], names: Sequence[str], chosen: Chosen, *, seeds: int, quick: bool = False
) -> list[AnyJob]:
    """All jobs that can be made now. Those of a data set whose options are not chosen yet are its search alone."""
    tasks = [data for data in sets if isinstance(data, TaskData)]
    some = any(data.paper is not None for data in tasks)
    fraction = QUICK if quick else 1.0
    arms_of = {data.name: _arms(data, names, in_paper=data.paper is not None or not some) for data in tasks}
    tasks = [data for data in tasks if arms_of[data.name]]
    tasks.sort(key=lambda data: -data.minutes)  # the longest first, so that none of them is left for the end
    found: list[AnyJob] = []
    for data in tasks:
        if chosen[data.name] is None:
            found += search_jobs(data, quick=quick)
    ready = [data for data in tasks if chosen[data.name] is not None]

    def runs(
        arms: Sequence[str], first: int, last: int, *, of: Sequence[TaskData] = ready, curve: bool = False
    ) -> Iterator[TaskJob]:
        for seed in range(first, min(last, seeds) + 1):
            for data in of:
                for arm in arms:
                    if seed > data.seeds or arm not in arms_of[data.name]:
                        continue
                    options = chosen[data.name]
                    assert options is not None
                    for part in [f for f in data.fractions if f < fraction] if curve else (fraction,):
                        point = options[0 if arm == BASELINE else 1]
                        job = TaskJob(data=data, arm=arm, seed=seed, fraction=part, point=point, quick=quick)
                        yield _named(job)

    in_paper = [data for data in ready if data.paper is not None or not some]
    in_forms = [data for data in in_paper if data.paper in TABLE2]
    curves = (BASELINE, INPUT) if "figure1" in names else ()
    found += runs(MAIN, 1, 1)
    found += _of_layers(sets, names, seeds=seeds)
    found += runs(curves, 1, 1, curve=True)  # they are short
    found += runs(MAIN, 2, SOLID, of=in_paper)
    found += runs(FORMS, 1, 1, of=in_forms)
    found += runs((TUNED,), 1, 1, of=in_paper)
    found += runs(FORMS, 1, 1, of=in_paper[::-1])  # the shortest first: the same time closes most lines
    found += runs(MAIN, 2, seeds)
    found += runs(curves, 2, seeds, curve=True)
    found += runs(FORMS, 2, seeds)
    found += runs((TUNED,), 1, seeds)
    return list(dict.fromkeys(found))


def _named(job: TaskJob) -> TaskJob:
    """A lambda that is the recipe's own is no arm of its own, but ELMo at the input."""
    usual = dataclasses.replace(job, arm=INPUT)
    return usual if job.arm.startswith("lambda ") and recipe_of(job) == recipe_of(usual) else job


def _of_layers(sets: Iterable[AnyData], names: Sequence[str], *, seeds: int) -> Iterator[AnyJob]:
    for data in sets:
        if isinstance(data, SenseData) and "table5" in names:
            yield SenseJob(data=data)
        if isinstance(data, ProbeData) and "table6" in names:
            yield from (ProbeJob(data=data, seed=seed) for seed in range(1, min(seeds, data.seeds) + 1))


def _arms(data: TaskData, names: Sequence[str], *, in_paper: bool) -> set[str]:
    """Those that the wanted tables have of a data set."""
    wanted: set[str] = set()
    for name in names:
        if name in _IN_PAPER and not in_paper:
            continue
        if name == "figure1" and not data.fractions:
            continue
        wanted.update(ARMS_OF.get(name, ()))
    return wanted
