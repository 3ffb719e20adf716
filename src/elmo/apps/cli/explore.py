"""`elmo explore`: a page in the browser about words in their sentences."""

import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.output import say
from elmo.apps.cli.packaged_text import check_packaged_text
from elmo.apps.cli.serve import load_tasks, served_name
from elmo.apps.cli.server_extra import server_extra
from elmo.errors import InputError, UserError

if TYPE_CHECKING:
    import socket

    from elmo.analysis.collection import Collection
    from elmo.analysis.index import WordIndex
    from elmo.apps.explore.data import Explorer
    from elmo.embed.embedder import Embedder
    from elmo.tasks.training.trained import TrainedTask

HOST = "127.0.0.1"  # the page is for whoever sits here; `elmo serve` is for others


def explore(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Text files or directories to look into; 960 packaged English sentences if none."),
    ] = None,
    index: Annotated[
        Path | None,
        typer.Option("--index", help="An index of a large corpus (`elmo index build`); made of TEXT if there is none."),
    ] = None,
    tokenized: options.Tokenized = False,
    model: options.Model = None,
    device: options.Device = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            help="A directory made by `elmo task train`, or NAME=DIRECTORY: its answers are shown; may be given again.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free, which is told.")] = 8400,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the page as one HTML file instead, which needs no program.")
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Option("--word", "-w", help="A word whose uses the exported file has (several times); examples if none."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Open a page about words in their sentences: a map of the uses of a word by layer, and more.

    Ctrl-C ends it. Nothing leaves this machine.

    Example: elmo explore
    """
    from elmo.embed.loading import load

    if export is not None:
        if tasks:
            raise UserError("--task needs the model, which an exported page has not; leave out one of them")
        options.refuse_existing(export, overwrite=overwrite)
        embedder = load(model, device=device)
        _export(make_explorer(embedder, text or [], index, tokenized=tokenized, model=model), words, export)
        return
    if words:
        raise UserError("--word is for --export; in the page you type the word")
    with server_extra("elmo explore"):
        from elmo.apps.server.serving import bind
    with bind(HOST, port) as listening:  # before the model: a port that is taken is told at once
        embedder = load(model, device=device)
        trained = load_tasks(tasks or (), embedder, device)
        kinds = {name: one.name for name, one in trained.items()}
        explorer = make_explorer(embedder, text or [], index, tokenized=tokenized, model=model, tasks=kinds)
        _serve(explorer, trained, listening, browser=browser)


def make_explorer(
    embedder: "Embedder",
    text: list[str],
    index: Path | None,
    *,
    tokenized: bool = False,
    model: str | None,
    tasks: Mapping[str, str] | None = None,
) -> "Explorer":
    """What answers the page: about text files, an index, or the packaged sentences."""
    from elmo.apps.explore.data import Explorer

    collection = _collection(embedder, text, index, tokenized=tokenized, model=model)
    return Explorer(collection, model=served_name(model), source=_source(text, index), tasks=tasks)


def _export(explorer: "Explorer", words: list[str] | None, path: Path) -> None:
    from elmo.apps.explore.export import one_page
    from elmo.disk.writing import write_file

    shown = words or explorer.examples()
    if not shown:
        raise UserError(
            "no word of the text is used often enough to be an example; name the words of the page with --word"
        )
    page = one_page(explorer, shown).encode("utf-8")
    write_file(path, page)
    say(f"{path}: the uses of {', '.join(dict.fromkeys(shown))} ({len(page) / 1e6:.1f} MB)")


def _collection(
    embedder: "Embedder", text: list[str], index: Path | None, *, tokenized: bool, model: str | None
) -> "Collection":
    from elmo.analysis.collection import packaged_passages, passages_of_files
    from elmo.analysis.indexcollection import IndexCollection
    from elmo.analysis.textcollection import TextCollection

    tokenizer = embedder.model.tokenizer
    if index is not None:
        return IndexCollection(embedder, _index(embedder, text, index, tokenized=tokenized, model=model))
    if not text:
        check_packaged_text(embedder, model, cure="elmo explore TEXT ..., or --index")
        return TextCollection(embedder, packaged_passages(tokenizer))
    collection = TextCollection(embedder, passages_of_files(text, tokenizer, tokenized=tokenized))
    if not collection.sentence_count:
        raise InputError(f"{text[0]}: has no sentences")
    return collection


def _index(embedder: "Embedder", text: list[str], index: Path, *, tokenized: bool, model: str | None) -> "WordIndex":
    """The index of a folder; where there is none yet, that of the text is made, or an unfinished one gone on with."""
    from elmo.analysis.index import build_index, open_index
    from elmo.text.lines import expand_paths

    if text and not index.exists():
        name = served_name(model)
        return build_index(embedder, text, index, layers="all", tokenized=tokenized, model_name=name, resume=True)
    found = open_index(index)
    if text and found.manifest.files != expand_paths(text):
        raise InputError(
            f"{index}: was made of {', '.join(found.manifest.files[:3])}, not of the text that is given; leave out "
            "the text, or choose another folder for an index of it"
        )
    return found


def _source(text: list[str], index: Path | None) -> str:
    if index is not None:
        return index.name or str(index)
    if not text:
        return "packaged sentences"
    more = f" and {len(text) - 1} more" if len(text) > 1 else ""
    return (Path(text[0]).name or text[0]) + more


def _serve(
    explorer: "Explorer", trained: "Mapping[str, TrainedTask]", listening: "socket.socket", *, browser: bool
) -> None:
    from elmo.apps.explore.routes import explore_routes
    from elmo.apps.server.app import make_app
    from elmo.apps.server.limits import Limits
    from elmo.apps.server.serving import serve

    app = make_app(
        explorer.embedder,
        name=explorer.model,
        tasks=trained,
        limits=Limits(most_bytes=4_200_000),  # a pasted text of a million characters, in any script
        hosts=(HOST, "localhost"),
        extra_routes=explore_routes(explorer),
    )
    address = f"http://{HOST}:{listening.getsockname()[1]}/"

    def started() -> None:
        typer.echo(f"the page is {address} (Ctrl-C ends it)")
        if browser:  # in a thread: some browsers run in the terminal until they are closed
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(app, listening, started=started)
