"""`Comparison`: the runs of one data set by arm, with means and deviations over the seeds."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from elmo.reproduce.arms import BASELINE, INPUT, TUNED
from elmo.reproduce.jobs import QUICK
from elmo.reproduce.settings import Options, TaskData

Run = Mapping[str, Any]


class Comparison:
    """The runs that have the options of a data set; `chosen` are those for the baseline and for ELMo.

    `quick`: those of a tenth of the data, which are meant where no share of the training data is named.
    """

    def __init__(
        self, data: TaskData, runs: Sequence[Run], chosen: tuple[Options, Options], *, quick: bool = False
    ) -> None:
        self.data, self.whole = data, QUICK if quick else 1.0
        own = [run for run in runs if run["kind"] == "task" and run["set"] == data.name]
        own = [run for run in own if run.get("quick", False) == quick]
        self.runs = [run for run in own if run["metric"] == data.metric and _has_options(run, data, chosen)]

    def of(self, arm: str, fraction: float | None = None) -> list[Run]:
        """The runs of an arm by their seeds."""
        wanted = self.whole if fraction is None else fraction
        found = [run for run in self.runs if run["fraction"] == wanted and _is_of(run, arm)]
        return sorted(found, key=lambda run: int(run["seed"]))

    def values(
        self, arm: str, part: str = "test", fraction: float | None = None, *, score: str | None = None
    ) -> list[float]:
        """A score of all seeds; the data set's own if none is named."""
        return [float(run[part][score or self.data.metric]) for run in self.of(arm, fraction)]

    def mean(
        self, arm: str, part: str = "test", fraction: float | None = None, *, score: str | None = None
    ) -> float | None:
        """The mean over the seeds; None without runs."""
        found = self.values(arm, part, fraction, score=score)
        return statistics.mean(found) if found else None

    def told(self, arm: str, part: str = "test", fraction: float | None = None, *, score: str | None = None) -> str:
        """Mean and deviation for people."""
        return spread(self.values(arm, part, fraction, score=score))

    def gain(
        self, arm: str = INPUT, other: str = BASELINE, part: str = "test", fraction: float | None = None
    ) -> float | None:
        """By how much the mean of an arm is above another's."""
        after, before = self.mean(arm, part, fraction), self.mean(other, part, fraction)
        return None if after is None or before is None else after - before

    def noise(
        self, arm: str = INPUT, other: str = BASELINE, part: str = "test", fraction: float | None = None
    ) -> float | None:
        """The standard error of that difference; None with a single seed."""
        both = [self.values(name, part, fraction) for name in (arm, other)]
        if min(map(len, both)) < 2:
            return None
        return float(sum(statistics.variance(found) / len(found) for found in both) ** 0.5)

    @property
    def scores(self) -> list[str]:
        """The names of the scores that all runs have, the main one first; those of single labels are left out."""
        names = [name for name in self.runs[0]["test"] if not name.startswith("f1 ")] if self.runs else []
        found = [name for name in names if all(name in run[part] for run in self.runs for part in ("dev", "test"))]
        return [self.data.metric, *(name for name in found if name != self.data.metric)] if found else []

    def updates(self, arm: str) -> list[tuple[float | None, float]]:
        """For each seed the updates after which the baseline's best score on dev is passed, and all its updates."""
        best = {run["seed"]: run["dev"][self.data.metric] for run in self.of(BASELINE)}
        runs = [run for run in self.of(arm) if run["seed"] in best and run["history"]]
        return [(passed_after(run["history"], best[run["seed"]]), run["history"][-1][0]) for run in runs]

    def mixes(self, arm: str, place: str) -> tuple[list[float], float] | None:
        """The mean shares of the layers and the mean gamma at a place."""
        found = [run["mixes"][place] for run in self.of(arm) if place in run["mixes"]]
        if not found:
            return None
        shares = [statistics.mean(column) for column in zip(*(mix["layers"] for mix in found), strict=True)]
        return shares, statistics.mean(mix["gamma"] for mix in found)

    def tuning(self) -> Mapping[str, Any] | None:
        """What tuning the biLM brought."""
        return next((run["tuning"] for run in self.of(TUNED) if run["tuning"]), None)


def passed_after(history: Sequence[Sequence[float]], score: float) -> float | None:
    """The updates after which a score is passed for the first time."""
    return next((updates for updates, found in history if found > score), None)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean and standard deviation; nothing where there is nothing."""
    if not values:
        return ""
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def _has_options(run: Run, data: TaskData, chosen: tuple[Options, Options]) -> bool:
    wanted = [*data.set, *chosen[0 if run["arm"] == BASELINE else 1]]
    return bool(run["options"][: len(wanted)] == wanted and run["point"] == wanted[len(data.set) :])


def _is_of(run: Run, arm: str) -> bool:
    """A lambda that is the recipe's own is no arm of its own: its runs are those with ELMo at the input."""
    if run["arm"] == arm:
        return True
    if not arm.startswith("lambda ") or run["arm"] != INPUT:
        return False
    return bool(run["elmo"] == {"where": "input", "layers": "all", "mix_l2": float(arm.removeprefix("lambda "))})
