"""What a report was made with: commands, versions, devices, and the hashes of models and data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elmo.reproduce.report.parts import ReportTable


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Beside the tables. `missing`: what was wanted and is not there, and where it can be had."""

    date: str
    command: str
    runs: Sequence[Mapping[str, Any]] = ()
    missing: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """Sentences on how the runs were made."""
        found = [f"Made on {self.date} by `{self.command}`."]
        if self.runs:
            hours = sum(float(run["seconds"]) for run in self.runs) / 3600
            dates = sorted({run["date"] for run in self.runs})
            when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
            found.append(f"{len(self.runs)} runs, {hours:.1f} hours of processes, {when}.")
            found.append(f"Devices: {_counted(run['device'] for run in self.runs)}.")
            versions = (", ".join(f"{name} {v}" for name, v in run["versions"].items()) for run in self.runs)
            found.append(f"Versions: {_counted(versions)}.")
            found.append(f"biLM (SHA-256 of its numbers): {_counted(run['model'] for run in self.runs)}.")
            vectors = [run["vectors"] for run in self.runs if run["vectors"]]
            if vectors:
                found.append(f"Word vectors (SHA-256): {_counted(vectors)}.")
        return found

    @property
    def files(self) -> ReportTable | None:
        """The hashes of the data."""
        found = {(run["set"], name): digest for run in self.runs for name, digest in sorted(run["files"].items())}
        if not found:
            return None
        rows = [[name, part, digest] for (name, part), digest in sorted(found.items())]
        return ReportTable(caption="The data: the beginning of SHA-256", columns=["set", "file", "hash"], rows=rows)

    @property
    def options(self) -> ReportTable | None:
        """The options of each arm that was trained."""
        found: dict[tuple[str, str], str] = {}
        for run in self.runs:
            if run["kind"] == "task" and run["fraction"] == 1.0:
                told = [option for option in run["options"] if not option.startswith("train.seed=")]
                found[run["set"], run["arm"]] = " ".join(told)
        rows = [[name, arm, options] for (name, arm), options in sorted(found.items())]
        if not rows:
            return None
        caption = "The options of each arm, as --set takes them; all others are those of the recipe"
        return ReportTable(caption=caption, columns=["set", "arm", "options"], rows=rows)


def _counted(values: Any) -> str:
    found = Counter(values)
    if len(found) == 1:
        return str(next(iter(found)))
    return "; ".join(f"{value} ({count} runs)" for value, count in found.most_common())
