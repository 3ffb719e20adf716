"""`TaskJob`, `SenseJob`, `ProbeJob`: single runs as values, each with the hash of all that decides what comes of it."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import elmo
from elmo.reproduce.arms import ARMS, BASELINE
from elmo.reproduce.settings import Options, ProbeData, SenseData, TaskData
from elmo.tasks.recipes import Recipe, find_recipe, parse_change

QUICK = 0.1  # of each file, where people only want to see how it goes
METHOD = 1  # of training and scoring; another number where runs made before are no longer comparable


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What runs are made from: a folder of data, the biLM, word vectors, and a folder for what can be made again."""

    data: Path
    model: str
    vectors: Path | None
    cache: Path
    device: str | None


@dataclass(frozen=True, kw_only=True)
class Hashes:
    """The content of the sources of a data set."""

    files: Mapping[str, str]
    model: str
    vectors: str | None


@dataclass(frozen=True, kw_only=True)
class TaskJob:
    """A task model to be trained. `searches`: on dev alone, the test data are not read.

    `quick`: on a tenth of dev and test. Less training data has more epochs, but not where it is to be quick.
    """

    data: TaskData
    arm: str
    seed: int
    fraction: float = 1.0
    point: Options = ()
    searches: bool = False
    quick: bool = False

    @property
    def options(self) -> Options:
        """All of them; a later one wins."""
        last = (f"train.seed={self.seed}", *((f"train.fraction={self.fraction:g}",) if self.fraction < 1 else ()))
        return (
            *self.data.set,
            *self.point,
            *(self.data.search if self.searches else ()),
            *ARMS[self.arm].options,
            *last,
        )

    @property
    def files(self) -> dict[str, str]:
        """The paths that are read, from the folder of the data."""
        return {name: path for name, path in self.data.paths.items() if name != "test" or not self.searches}

    @property
    def minutes(self) -> float:
        """What it takes by the settings; less data has more epochs, so that a tenth of it takes a third."""
        fraction = recipe_of(self).train.fraction
        return self.data.minutes * (fraction if self.quick else math.sqrt(fraction))

    def identity(self, hashes: Hashes) -> dict[str, Any]:
        """All that decides its result."""
        with_elmo = self.arm != BASELINE
        return {
            "method": METHOD,
            "elmo": elmo.__version__,
            "task": self.data.task,
            "options": unusual(recipe_of(self)),
            "tunes": ARMS[self.arm].tunes,
            **({"quick": True} if self.quick else {}),
            "files": {name: hashes.files[path] for name, path in self.files.items()},
            "model": hashes.model if with_elmo else None,
            "vectors": hashes.vectors,
        }

    def __str__(self) -> str:
        part = f", {100 * self.fraction:g} % of the data" if self.fraction < 1 else ""
        what = f"search {' '.join(self.point)}" if self.searches else ""
        quick = ", quick" if self.quick else ""
        return " ".join(f"{self.data.name}: {self.arm} seed {self.seed}{part}{quick} {what}".split())


@dataclass(frozen=True, kw_only=True)
class SenseJob:
    """Word senses by the nearest average, of every layer."""

    data: SenseData

    @property
    def files(self) -> dict[str, str]:
        """The paths that are read, from the folder of the data."""
        return self.data.paths

    @property
    def minutes(self) -> float:
        """What it takes by the settings."""
        return self.data.minutes

    def identity(self, hashes: Hashes) -> dict[str, Any]:
        """All that decides its result."""
        files = {name: hashes.files[path] for name, path in self.files.items()}
        return {"method": METHOD, "elmo": elmo.__version__, "task": "senses", "files": files, "model": hashes.model}

    def __str__(self) -> str:
        return self.data.name


@dataclass(frozen=True, kw_only=True)
class ProbeJob:
    """A linear classifier of tags on each layer."""

    data: ProbeData
    seed: int

    @property
    def files(self) -> dict[str, str]:
        """The paths that are read, from the folder of the data."""
        return self.data.paths

    @property
    def minutes(self) -> float:
        """What it takes by the settings."""
        return self.data.minutes

    def identity(self, hashes: Hashes) -> dict[str, Any]:
        """All that decides its result."""
        files = {name: hashes.files[path] for name, path in self.files.items()}
        options = {"seed": self.seed, "epochs": self.data.epochs}
        return {
            "method": METHOD, "elmo": elmo.__version__, "task": "probe", "options": options, "files": files,
            "model": hashes.model,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.data.name}: seed {self.seed}"


AnyJob = TaskJob | SenseJob | ProbeJob


def job_key(job: AnyJob, hashes: Hashes) -> str:
    """The name of a run: equal for equal data, models, options and seeds."""
    return hashlib.sha256(json.dumps(job.identity(hashes), sort_keys=True).encode()).hexdigest()[:24]


@cache  # a queue asks of every job whenever one is begun
def recipe_of(job: TaskJob) -> Recipe:
    """All options of a run."""
    changes = dict(map(parse_change, job.options))
    recipe = find_recipe(job.data.task).changed(changes)
    return recipe if job.quick else longer(recipe)


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


def unusual(options: Any) -> dict[str, Any]:
    """The options that differ from their defaults, so that a new one, at its default, leaves a run what it was."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(options):
        if field.name == "checkpoint_minutes":
            continue
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value):
            found[field.name] = {"": type(value).__name__, **unusual(value)}
        elif value != _default(field):
            found[field.name] = value
    return found


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
