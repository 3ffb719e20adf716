"""The data sets with their settings: `datasets.toml`, or a file of the user's in the same form. It needs no torch."""

import itertools
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from elmo.disk.guarded.tomlfiles import read_toml
from elmo.errors import ConfigError, InputError
from elmo.model.fields import read_fields
from elmo.tasks.names import TaskName

SENSES, PROBE = "senses", "probe"
MOST_POINTS = 4  # of a search, so that the baseline and ELMo get the same few
Row = Literal["squad", "snli", "srl", "coref", "ner", "sst-5"]  # of the paper's Table 1

Options = tuple[str, ...]  # NAME=VALUE each


@dataclass(frozen=True, kw_only=True)
class TaskData:
    """A data set of a task that is trained.

    `set`: options of all runs. `baseline`, `elmo`: options chosen on dev, for runs without and with ELMo; without them
    they are searched for among the points of `grid`, with the options of `search` besides. `fractions` of the training
    data make a curve. `minutes`: what one run takes on an H200 beside others. `paper`: the row that it stands for.
    """

    name: str
    title: str
    task: TaskName
    train: str
    dev: str
    test: str
    metric: str
    paper: Row | None = None
    caveat: str = ""
    where: str = ""
    seeds: int = 5
    set: Options = ()
    baseline: Options | None = None
    elmo: Options | None = None
    grid: Options = ()
    search: Options = ()
    fractions: tuple[float, ...] = ()
    minutes: float = 5.0

    def __post_init__(self) -> None:
        if (self.baseline is None) != (self.elmo is None):
            raise ConfigError(f"{self.name}: baseline and elmo are chosen options of both arms: give both, or neither")
        if not all(0 < fraction < 1 for fraction in self.fractions):
            raise ConfigError(f"{self.name}: fractions are {list(self.fractions)}; they lie between 0 and 1")
        if self.seeds < 1 or self.minutes <= 0:
            raise ConfigError(f"{self.name}: seeds are from 1, minutes above 0")
        if not 1 <= len(self.points) <= MOST_POINTS:
            raise ConfigError(f"{self.name}: the grid has {len(self.points)} points; at most {MOST_POINTS} are tried")

    @property
    def paths(self) -> dict[str, str]:
        """Its files by what they are."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    @property
    def points(self) -> list[Options]:
        """The points of the grid, each the options of a run."""
        axes = []
        for line in self.grid:
            name, _, values = line.partition("=")
            axes.append([f"{name}={value}" for value in values.split(",")])
        return list(itertools.product(*axes))


@dataclass(frozen=True, kw_only=True)
class SenseData:
    """Word senses: a training corpus in Raganato's framework, WordNet's index.sense, and test sets."""

    name: str
    title: str
    task: Literal["senses"]
    train: str
    index: str
    tests: tuple[str, ...]
    where: str = ""
    minutes: float = 5.0

    @property
    def paths(self) -> dict[str, str]:
        """Its files by what they are."""
        return {"train": self.train, "index": self.index, **{f"test {n}": path for n, path in enumerate(self.tests)}}


@dataclass(frozen=True, kw_only=True)
class ProbeData:
    """Tags for a linear classifier on each layer."""

    name: str
    title: str
    task: Literal["probe"]
    train: str
    dev: str
    test: str
    where: str = ""
    seeds: int = 5
    epochs: int = 20
    minutes: float = 2.0

    @property
    def paths(self) -> dict[str, str]:
        """Its files by what they are."""
        return {"train": self.train, "dev": self.dev, "test": self.test}


AnyData = TaskData | SenseData | ProbeData
_KINDS: dict[str, type[Any]] = {SENSES: SenseData, PROBE: ProbeData}


def settings_path() -> Path:
    """The file that comes with the product."""
    return Path(str(files("elmo.reproduce"))) / "datasets.toml"


def read_settings(path: Path | None = None) -> dict[str, AnyData]:
    """All data sets by name."""
    path = path or settings_path()
    return {name: _read(name, values, where=f"{path}: [{name}]") for name, values in read_toml(path).items()}


def _read(name: str, values: object, *, where: str) -> AnyData:
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise ConfigError(f"{where}: a data set is named by small letters, digits and _")
    task = values.get("task") if isinstance(values, Mapping) else None
    names = (*typing.get_args(TaskName), *_KINDS)
    if not isinstance(values, Mapping) or task not in names:
        raise ConfigError(f"{where}: task is {task!r:.80}; one of {', '.join(names)} is wanted")
    found: AnyData = read_fields(_KINDS.get(str(task), TaskData), {"name": name, **values}, where=where)
    return found


def missing_files(data: AnyData, folder: Path | None) -> list[Path]:
    """Which of its files are not there."""
    if folder is None:
        return [Path(path) for path in data.paths.values()]
    return [folder / path for path in data.paths.values() if not _is_file(folder / path)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than any file's
        return False


def find_sets(settings: Mapping[str, AnyData], names: list[str] | None) -> dict[str, AnyData]:
    """The data sets with these names, in the order of the settings; all if none is named."""
    for name in names or ():
        if name not in settings:
            raise InputError(f"there is no data set {name!r}; there are {', '.join(settings)}")
    return {name: data for name, data in settings.items() if not names or name in names}
