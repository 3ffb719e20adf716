"""What can be made: each table and figure of the paper, with what it needs. For `elmo reproduce --list`."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from elmo.errors import InputError
from elmo.reproduce.arms import ARMS_OF
from elmo.reproduce.settings import AnyData, ProbeData, SenseData, TaskData

EVERYTHING = "all"
# A run of names takes 16 minutes of a CPU core (docs/tasks.md) and 1.8 on an H200; other tasks were not timed.
CPU_TIMES = 9
Kind = Literal["tasks", "senses", "tags", "neighbours"]


class Chapter(NamedTuple):
    """A table or figure. `small`: whether something of it can be made of the packaged sentences alone."""

    title: str
    kind: Kind
    small: bool = False


CATALOGUE: dict[str, Chapter] = {
    "table1": Chapter("six tasks with ELMo and without", "tasks"),
    "table2": Chapter("all layers or the top one, lambda", "tasks"),
    "table3": Chapter("ELMo at the input, at the output, at both", "tasks"),
    "table4": Chapter("neighbours of a word in context, beside those of static vectors", "neighbours", small=True),
    "table5": Chapter("word senses by layer", "senses", small=True),
    "table6": Chapter("parts of speech by layer", "tags", small=True),
    "table7": Chapter("perplexity before and after tuning on a task's text", "tasks"),
    "figure1": Chapter("scores over the size of the training data", "tasks"),
    "figure2": Chapter("what the mixes at input and output learn", "tasks", small=True),
}


def wanted_names(names: Sequence[str]) -> list[str]:
    """The names of what is to be made, in the paper's order; all of them if none is given."""
    for name in names:
        if name not in (*CATALOGUE, EVERYTHING):
            raise InputError(f"there is nothing named {name!r} to make; there are {', '.join(CATALOGUE)}, {EVERYTHING}")
    return [name for name in CATALOGUE if not names or EVERYTHING in names or name in names]


def data_of(name: str, settings: Mapping[str, AnyData]) -> list[AnyData]:
    """The data sets that a table or figure is made of."""
    kind = CATALOGUE[name].kind
    if kind == "senses":
        return [data for data in settings.values() if isinstance(data, SenseData)]
    if kind == "tags":
        return [data for data in settings.values() if isinstance(data, ProbeData)]
    if kind == "neighbours":
        return []
    tasks = [data for data in settings.values() if isinstance(data, TaskData)]
    if name == "figure1":
        return [data for data in tasks if data.fractions]
    in_paper = [data for data in tasks if data.paper is not None]
    return [*tasks] if name in ("table1", "table7") or not in_paper else [*in_paper]


def gpu_minutes(name: str, settings: Mapping[str, AnyData]) -> float:
    """Minutes of one process on an H200, a seed of each arm; runs that another table has too are counted in both."""
    runs = {"senses": 1, "tags": 1, "neighbours": 0}.get(CATALOGUE[name].kind)
    if runs is None:
        runs = len(ARMS_OF[name])
    if name == "figure1":
        tasks = [data for data in data_of(name, settings) if isinstance(data, TaskData)]
        return sum(runs * data.minutes * (1 + sum(math.sqrt(f) for f in data.fractions)) for data in tasks)
    return sum(runs * data.minutes for data in data_of(name, settings))


def listing(settings: Mapping[str, AnyData]) -> list[str]:
    """Lines that say what there is and what it needs."""
    lines = []
    for name, entry in CATALOGUE.items():
        data = ", ".join(one.name for one in data_of(name, settings))
        lines.append(f"{name:8} {entry.title}")
        if entry.kind == "neighbours":
            lines.append("         data: none; an index (elmo index build) and static vectors, if you have them")
            lines.append("         extras: word2vec, for vectors of the same text; minutes: 1 on a CPU")
            continue
        extras = "torch" + (", tasks (scipy, for coreference)" if "ontogum" in data or "litbank" in data else "")
        minutes = gpu_minutes(name, settings)
        lines.append(f"         data: {data}" + ("; in small without any" if entry.small else ""))
        small = "; in small 1 on a CPU" if entry.small else ""
        lines.append(f"         extras: {extras}")
        lines.append(
            f"         minutes of a process, for a seed: {minutes:.0f} on an H200, "
            f"about {CPU_TIMES * minutes:.0f} on a CPU{small}"
        )
    lines += ["", "Where the data can be had:"]
    lines += [f"{name:13} {one.title}: {one.where}" for name, one in settings.items()]
    lines += ["", "--quick takes a tenth of the task data and one seed: a few minutes a run on a CPU."]
    return lines
