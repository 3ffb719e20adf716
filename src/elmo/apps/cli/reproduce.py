"""`elmo reproduce`: the tables and figures of the paper from the user's data and model."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.errors import InputError

NAMES = ("table1", "table2", "table3", "table5", "table6", "table7", "figure1", "figure2")
EVERYTHING = "all"


def reproduce(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help=f"What to make: {', '.join(NAMES)}, or {EVERYTHING}.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the report and its raw runs.")],
    data: Annotated[Path, typer.Option("--data", help="The folder of the data sets; the settings have their paths.")],
    model: options.Model = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Static word vectors: GloVe's text format, or .npz.")
    ] = None,
    sets: Annotated[list[str] | None, typer.Option("--only", help="One data set; may be given again.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Of each comparison, at most.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs at the same time, a process each.")] = 1,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Then save and stop; the same command goes on.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="A TOML file of data sets in the place of the product's own.")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Search for options, though some are chosen.")] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="A folder for layers, tuned biLMs, and runs that are not finished.")
    ] = None,
    device: options.Device = None,
) -> None:
    """Make tables and figures of the paper (Peters et al. 2018) again, beside the published ones.

    Runs are kept in the folder `runs` of the output, a line each, and are never made twice. The same command goes on
    where it was stopped.

    Example: elmo reproduce table1 --data tasks --vectors glove.txt -o report --jobs 8
    """
    from elmo.reproduce.choosing import chosen_lines
    from elmo.reproduce.jobs import Sources
    from elmo.reproduce.queue import RunQueue, make_missing
    from elmo.reproduce.runs import RUNS, RunFile, read_runs
    from elmo.reproduce.settings import find_sets, missing_files, read_settings
    from elmo.weights.published.packaged import DEFAULT

    wanted = _wanted(names)
    chosen = find_sets(read_settings(settings), sets)
    there = {name: found for name, found in chosen.items() if not missing_files(found, data)}
    for name in chosen.keys() - there.keys():
        typer.echo(f"{name}: left out; {missing_files(chosen[name], data)[0]} is not there ({chosen[name].where})")
    if not there:
        raise InputError(f"{data}: has the files of no data set")
    cache = cache or Path(tempfile.gettempdir()) / "elmo-reproduce"
    sources = Sources(data=data, model=model or DEFAULT, vectors=vectors, cache=cache, device=device)
    folder = output / RUNS
    queue = RunQueue(there, wanted, read_runs([folder]), sources, seeds=seeds, again=search)
    make_missing(queue, RunFile(folder), processes=jobs, minutes=minutes)
    for name, points in queue.chosen.items():
        if points is not None:
            typer.echo(chosen_lines(name, points))
    for problem in queue.problems:
        typer.echo(f"failed: {problem}", err=True)
    if queue.problems:
        raise typer.Exit(1)


def _wanted(names: list[str]) -> list[str]:
    for name in names:
        if name not in (*NAMES, EVERYTHING):
            raise InputError(f"there is nothing named {name!r} to make; there are {', '.join(NAMES)}, {EVERYTHING}")
    return list(NAMES) if EVERYTHING in names else names
