"""What a line of the raw runs must hold, so that a report of hours is not lost to a line that was changed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from elmo.errors import ConfigError
from elmo.model.fields import read_fields
from elmo.tasks.training.trained import Tuning


@dataclass(frozen=True, kw_only=True)
class _AnyRun:
    """Of all runs; a line may hold more."""

    key: str
    set: str
    seconds: float
    date: str
    files: dict[str, str]
    model: str | None
    vectors: str | None
    device: str
    versions: dict[str, str]

    def fault(self) -> str | None:
        """What does not agree within it."""
        return None

    def layer_counts(self) -> dict[str, int]:
        """Of how many layers it tells, at each place where it does."""
        return {}


@dataclass(frozen=True, kw_only=True)
class _Mix:
    layers: list[float]
    gamma: float


@dataclass(frozen=True, kw_only=True)
class _TaskRun(_AnyRun):
    kind: Literal["task", "search"]
    arm: str
    seed: int
    fraction: float
    point: list[str]
    options: list[str]
    elmo: dict[str, Any] | None
    metric: str
    dev: dict[str, float]
    test: dict[str, float] | None
    history: list[tuple[int, float]]
    best_epoch: int
    epochs: int
    epoch_seconds: float
    mixes: dict[str, _Mix]
    tuning: Tuning | None = None

    def fault(self) -> str | None:
        if self.kind == "task" and self.test is None:
            return "test is null, which only a search has"
        for name, scores in (("dev", self.dev), ("test", self.test)):
            if scores is not None and self.metric not in scores:
                return f"{name} has no {self.metric!r:.80}, which is its metric"
        if self.history and not 1 <= self.best_epoch <= len(self.history):
            return f"best_epoch is {self.best_epoch}, but the history has {len(self.history)} epochs"
        return None

    def layer_counts(self) -> dict[str, int]:
        return {place: len(mix.layers) for place, mix in self.mixes.items()}


@dataclass(frozen=True, kw_only=True)
class _SenseScores:
    name: str
    instances: int
    first: float
    layers: list[float]
    mean: float


@dataclass(frozen=True, kw_only=True)
class _SenseRun(_AnyRun):
    scores: list[_SenseScores]

    def fault(self) -> str | None:
        counts = {len(score.layers) for score in self.scores}
        return None if len(counts) == 1 and 0 not in counts else "scores have not a number for each layer"

    def layer_counts(self) -> dict[str, int]:
        return {"scores": len(self.scores[0].layers)}


@dataclass(frozen=True, kw_only=True)
class _ProbeRun(_AnyRun):
    seed: int
    dev: list[float]
    test: list[float]

    def fault(self) -> str | None:
        return None if self.dev and len(self.dev) == len(self.test) else "dev and test have not a number for each layer"

    def layer_counts(self) -> dict[str, int]:
        return {"dev": len(self.dev)}


_SHAPES = {"task": _TaskRun, "search": _TaskRun, "senses": _SenseRun, "probe": _ProbeRun}


def check_run(run: Mapping[str, Any], *, where: str) -> dict[str, int]:
    """Refuse what is no run; say of how many layers it tells, at each place where it does."""
    kind = run.get("kind")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise ConfigError(f"{where}.kind: found {kind!r:.80}, but one of {', '.join(_SHAPES)} is wanted")
    shape: type[_AnyRun] = _SHAPES[kind]
    found = read_fields(shape, {f.name: run[f.name] for f in fields(shape) if f.name in run}, where=where)
    if fault := found.fault():
        raise ConfigError(f"{where}: {fault}")
    return found.layer_counts()
