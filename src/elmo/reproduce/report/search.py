"""The search for options: every point that was tried, for the baseline and for ELMo alike, on dev alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo.reproduce.comparison import spread
from elmo.reproduce.order import SEARCHED
from elmo.reproduce.report.parts import ReportPart, ReportTable

Run = Mapping[str, Any]


def search_part(runs: Sequence[Run], titles: Mapping[str, str]) -> ReportPart:
    """A row for each point; the best of each arm is strong. `titles`: of the data sets, by their names."""
    part = ReportPart(name="search", title="The search for options")
    tried = [run for run in runs if run["kind"] == "search"]
    rows = []
    for name in titles:
        own = [run for run in tried if run["set"] == name]
        points = dict.fromkeys(tuple(run["point"]) for run in own)
        best = {arm: max((_score(run) for run in own if run["arm"] == arm), default=None) for arm in SEARCHED}
        for point in points:
            cells = []
            for arm in SEARCHED:
                scores = [_score(run) for run in own if run["arm"] == arm and tuple(run["point"]) == point]
                told = spread(scores)
                cells.append(f"**{told}**" if best[arm] in scores else told)
            rows.append([titles[name], " ".join(point), str(own[0]["epochs"]), *cells])
    if rows:
        columns = ["task", "options", "epochs", "baseline", "ELMo at the input"]
        caption = "Scores on dev, one seed; fewer epochs than in the tables above, and test is not read"
        part.tables.append(ReportTable(caption=caption, columns=columns, rows=rows))
    return part


def _score(run: Run) -> float:
    return float(run["dev"][run["metric"]])
