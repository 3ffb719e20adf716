"""`elmo reproduce`: the tables and figures of the paper from the user's data and model."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options

OUTPUT = Path("reproduced")


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="What to make, as --list names it; all if none.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Say what can be made, what it needs, and stop.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="The folder of the data sets; the settings have their paths in it.")
    ] = None,
    model: options.Model = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Static word vectors: GloVe's text format, or .npz.")
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", help="For Table 4: an index to search (elmo index build makes one).")
    ] = None,
    train_vectors: Annotated[
        bool, typer.Option("--word2vec", help="For Table 4: train word2vec on the text that is searched (gensim).")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the report and its raw runs.")] = OUTPUT,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the task data and one seed.")] = False,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Of each comparison, at most.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs at the same time, a process each.")] = 1,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0, help="Then save and stop; the same command goes on.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="One data set; may be given again.")] = None,
    settings_file: Annotated[
        Path | None, typer.Option("--settings", help="A TOML file of data sets in the place of the product's own.")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Search for options, though some are chosen.")] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="A folder for layers, tuned biLMs, and runs that are not finished.")
    ] = None,
    device: options.Device = None,
) -> None:
    """Make the tables and figures of the paper (Peters et al. 2018) again, beside the published ones.

    Without --data it makes Table 4, and Tables 5, 6 and Figure 2 in small, of packaged sentences. Finished runs are
    lines in the folder `runs` of the output, and are never made twice; the same command goes on where it was stopped.

    Example: elmo reproduce --quick

    Example: elmo reproduce table1 --data tasks --vectors glove.txt -o report --jobs 8
    """
    from elmo.reproduce import find_sets, listing, read_settings, wanted_names

    settings = find_sets(read_settings(settings_file), only)
    if show_list:
        for line in listing(settings):
            typer.echo(line)
        return
    wanted = wanted_names(names or [])

    from elmo.reproduce import ReproduceOptions, reproduce_paper
    from elmo.weights.published.packaged import DEFAULT

    problems = reproduce_paper(
        ReproduceOptions(
            names=wanted,
            settings=settings,
            output=output,
            cache=cache or Path(tempfile.gettempdir()) / "elmo-reproduce",
            model=model or DEFAULT,
            command=" ".join(["elmo", *context.obj.arguments]),
            data=data,
            vectors=vectors,
            index=index,
            train_vectors=train_vectors,
            seeds=seeds,
            processes=jobs,
            minutes=minutes,
            quick=quick,
            search=search,
            device=device,
        )
    )
    for problem in problems:
        typer.echo(f"failed: {problem}", err=True)
    if problems:
        raise typer.Exit(1)
