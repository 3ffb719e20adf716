"""Options chosen on dev: those that the settings have, or the best of a search with as many runs for either arm."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from elmo.reproduce.arms import BASELINE, INPUT
from elmo.reproduce.order import search_jobs
from elmo.reproduce.settings import Options, TaskData


def chosen_options(
    data: TaskData, runs: Sequence[Mapping[str, Any]], *, again: bool, quick: bool = False
) -> tuple[Options, Options] | None:
    """Of the baseline and of ELMo; None while a search is not finished. `again`: search though options are there.

    `runs`: those of the search as the settings of now have it.
    """
    if not again and data.baseline is not None and data.elmo is not None:
        return data.baseline, data.elmo
    if not data.grid:
        return data.baseline or (), data.elmo or ()
    own = [run for run in runs if run["kind"] == "search" and run["set"] == data.name]
    tried = [run for run in own if run.get("quick", False) == quick]
    if len({(run["arm"], tuple(run["point"])) for run in tried}) < len(search_jobs(data)):
        return None
    return _best(tried, BASELINE), _best(tried, INPUT)


def chosen_lines(name: str, chosen: tuple[Options, Options]) -> str:
    """As the file of settings has it."""
    named = zip(("baseline", "elmo"), chosen, strict=True)
    told = (f"{key} = {json.dumps(list(point))}" for key, point in named)
    return "\n".join([f"[{name}]", *told])


def _best(runs: Sequence[Mapping[str, Any]], arm: str) -> Options:
    """The point with the best score on dev; the first of equals."""
    best = max((run for run in runs if run["arm"] == arm), key=lambda run: float(run["dev"][run["metric"]]))
    return tuple(best["point"])
