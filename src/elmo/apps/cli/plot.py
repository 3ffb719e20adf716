"""`elmo plot`: pictures of the uses of a word, of two sentences beside each other, and of the mixes of a task run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.packaged_text import check_packaged_text
from elmo.errors import InputError, UserError

if TYPE_CHECKING:
    from elmo.analysis.examples import Use


def plot(
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png, .svg or .pdf.")],
    words: Annotated[list[str] | None, typer.Argument(help="The word whose uses are drawn, or several.")] = None,
    text: Annotated[
        list[str] | None,
        typer.Option("--text", help="Text files or directories with uses of it; the packaged sentences if none."),
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", help="An index with uses of it, which needs no model (elmo index build).")
    ] = None,
    tokenized: options.Tokenized = False,
    most: Annotated[int, typer.Option("--count", "-n", min=1, help="Uses of each word, at most.")] = 20,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Bank is a use of bank.")] = False,
    sentences: Annotated[
        tuple[str, str] | None,
        typer.Option("--sentences", help="Instead: two sentences, each token of one compared with each of the other."),
    ] = None,
    mixes: Annotated[
        Path | None,
        typer.Option("--mixes", help="Instead: how much of each layer a task model takes (a run of elmo task train)."),
    ] = None,
    model: options.Model = None,
    device: options.Device = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw the uses of a word in two dimensions, layer by layer, each point with its sentence.

    Without --text or --index the packaged uses of 24 ambiguous words are drawn, coloured by their senses. --sentences
    draws how alike the tokens of two sentences are in each layer, --mixes what a task model has learned to take.

    Example: elmo plot bank -o bank.png
    """
    from elmo.analysis.figurefile import check_picture

    chosen = [bool(words), sentences is not None, mixes is not None]
    if sum(chosen) != 1:
        raise UserError("one thing can be drawn: the uses of some words, two --sentences, or the --mixes of a run")
    if not words and (text or index is not None):
        raise UserError("--text and --index are for the uses of words; leave them out")
    if index is not None and (text or tokenized or model is not None):
        raise UserError("--index has its text and its vectors; leave out --text, --tokenized and --model")
    check_picture(output)
    options.refuse_existing(output, overwrite=overwrite)
    if mixes is not None:
        from elmo.analysis.mixes import draw_mixes, read_mixes

        draw_mixes(read_mixes(mixes), output)
    elif sentences is not None:
        from elmo.analysis.heatmap import compare_sentences, draw_pair
        from elmo.embed.loading import load

        draw_pair(compare_sentences(load(model, device=device), *sentences), output)
    elif index is not None:
        from elmo.analysis.index import open_index
        from elmo.analysis.picture import draw_vectors, spots_of_index

        found = open_index(index)
        draw_vectors(*spots_of_index(found, words or [], most=most, ignore_case=ignore_case), found.layers, output)
    elif text:
        from elmo.analysis.picture import draw_spots, spots_of_words
        from elmo.embed.loading import load
        from elmo.text.textfiles import sentences_of_files

        embedder = load(model, device=device)
        read = sentences_of_files(text, embedder.model.tokenizer, tokenized=tokenized)
        draw_spots(embedder, spots_of_words(read, words or [], most=most, ignore_case=ignore_case), output)
    else:
        from elmo.analysis.picture import draw_spots, spots_of_senses
        from elmo.embed.loading import load

        uses = _packaged_uses(words or [])
        embedder = load(model, device=device)
        check_packaged_text(embedder, model)
        draw_spots(embedder, spots_of_senses(uses, embedder.model.tokenizer), output)


def _packaged_uses(words: list[str]) -> list["Use"]:
    from elmo.analysis.examples import read_senses

    known = list(dict.fromkeys(use.word for use in read_senses()))
    for word in words:
        if word not in known:
            raise InputError(f"{word!r} is not among the packaged words ({', '.join(known)}); give a text with --text")
    return [use for use in read_senses() if use.word in words]
