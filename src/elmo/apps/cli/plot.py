"""`elmo plot`: a picture of the uses of a word."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.packaged_text import check_packaged_text
from elmo.errors import InputError


def plot(
    words: Annotated[list[str], typer.Argument(help="The word, or several.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png, .svg or .pdf.")],
    text: Annotated[
        list[str] | None,
        typer.Option("--text", help="Text files or directories with uses of it; the packaged sentences if none."),
    ] = None,
    tokenized: options.Tokenized = False,
    most: Annotated[int, typer.Option("--count", "-n", min=1, help="Uses of each word, at most.")] = 20,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Bank is a use of bank.")] = False,
    model: options.Model = None,
    device: options.Device = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw the uses of a word in two dimensions, layer by layer, each point with its sentence.

    Without --text the packaged uses of 24 ambiguous words are drawn, coloured by their senses.

    Example: elmo plot bank -o bank.png
    """
    from elmo.analysis.examples import read_senses
    from elmo.analysis.picture import check_picture, draw_spots, spots_of_senses, spots_of_words
    from elmo.embed.loading import load
    from elmo.text.textfiles import sentences_of_files

    check_picture(output)
    options.refuse_existing(output, overwrite=overwrite)
    if not text:
        uses = [use for use in read_senses() if use.word in words]
        known = ", ".join(dict.fromkeys(use.word for use in read_senses()))
        for word in words:
            if word not in {use.word for use in uses}:
                raise InputError(f"{word!r} is not among the packaged words ({known}); give a text with --text")
    embedder = load(model, device=device)
    if not text:
        check_packaged_text(embedder, model)
    tokenizer = embedder.model.tokenizer
    if text:
        sentences = sentences_of_files(text, tokenizer, tokenized=tokenized)
        spots = spots_of_words(sentences, words, most=most, ignore_case=ignore_case)
    else:
        spots = spots_of_senses(uses, tokenizer)
    draw_spots(embedder, spots, output)
