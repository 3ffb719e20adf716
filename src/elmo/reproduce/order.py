"""Which runs tables and figures need, in the order in which they are worth most: Table 1 first, seed by seed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from elmo.reproduce.arms import ARMS_OF, BASELINE, INPUT, TUNED
from elmo.reproduce.jobs import AnyJob, ProbeJob, SenseJob, TaskJob
from elmo.reproduce.settings import AnyData, Options, ProbeData, SenseData, TaskData

Chosen = Mapping[str, tuple[Options, Options] | None]  # of each data set: for the baseline, for ELMo; None: not yet
SEARCHED = (BASELINE, INPUT)
_IN_PAPER = ("table2", "table3", "figure2")  # tables of the data sets that stand for one of the paper's


def search_jobs(data: TaskData) -> list[TaskJob]:
    """As many runs for the baseline as for ELMo, each point once."""
    return [
        TaskJob(data=data, arm=arm, seed=1, point=point, searches=True) for point in data.points for arm in SEARCHED
    ]


def ordered_jobs(
    sets: Iterable[AnyData], names: Sequence[str], chosen: Chosen, *, seeds: int, fraction: float = 1.0
) -> list[AnyJob]:
    """All jobs that can be made now. Those of a data set whose options are not chosen yet are its search alone."""
    tasks = [data for data in sets if isinstance(data, TaskData) and _arms(data, names)]
    tasks.sort(key=lambda data: -data.minutes)  # the longest first, so that none of them is left for the end
    found: list[AnyJob] = []
    for data in tasks:
        if chosen[data.name] is None:
            found += search_jobs(data)
    ready = [data for data in tasks if chosen[data.name] is not None]

    def seed_by_seed(arms: Sequence[str], *, curve: bool = False) -> Iterator[TaskJob]:
        for seed in range(1, seeds + 1):
            for data in ready:
                for arm in arms:
                    if seed > data.seeds or arm not in _arms(data, names):
                        continue
                    options = chosen[data.name]
                    assert options is not None
                    for part in data.fractions if curve else (fraction,):
                        point = options[0 if arm == BASELINE else 1]
                        yield TaskJob(data=data, arm=arm, seed=seed, fraction=part, point=point)

    main = list(seed_by_seed((BASELINE, INPUT)))
    found += [job for job in main if job.seed == 1]
    found += _of_layers(sets, names, seeds=seeds)
    found += [job for job in main if job.seed > 1]
    found += seed_by_seed(("both", "output"))
    found += seed_by_seed(("top", "lambda 1", "lambda 0.001"))
    if "figure1" in names:
        found += seed_by_seed((BASELINE, INPUT), curve=True)
    found += seed_by_seed((TUNED,))
    return found


def _of_layers(sets: Iterable[AnyData], names: Sequence[str], *, seeds: int) -> Iterator[AnyJob]:
    for data in sets:
        if isinstance(data, SenseData) and "table5" in names:
            yield SenseJob(data=data)
        if isinstance(data, ProbeData) and "table6" in names:
            yield from (ProbeJob(data=data, seed=seed) for seed in range(1, min(seeds, data.seeds) + 1))


def _arms(data: TaskData, names: Sequence[str]) -> set[str]:
    """Those that the wanted tables have of a data set."""
    wanted: set[str] = set()
    for name in names:
        if name in _IN_PAPER and data.paper is None:
            continue
        if name == "figure1" and not data.fractions:
            continue
        wanted.update(ARMS_OF.get(name, ()))
    return wanted
