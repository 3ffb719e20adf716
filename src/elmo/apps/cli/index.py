"""`elmo index build | search | uses`: the words of a corpus with their vectors, and what is found among them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from elmo.analysis.choices import VectorStore, Words
from elmo.apps.cli import options
from elmo.apps.cli.embed import parse_layers
from elmo.apps.cli.neighbors import require_found, tell
from elmo.apps.cli.resuming import INTERRUPTED, command_again
from elmo.embed.choices import Precision
from elmo.errors import InputError

Index = Annotated[Path, typer.Argument(help="The index, a directory.")]
IndexLayer = Annotated[
    str | None,
    typer.Option("--layers", help="top, mean, or the number of one layer that the index has; its topmost if none."),
]
Centred = Annotated[
    bool, typer.Option("--centred", help="Cosines as seen from the mean of all vectors, which spreads them out.")
]


def build(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="Text files (plain, .gz, .xz, .zst), directories, or -.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The index to make, a directory.")],
    layers: Annotated[
        list[str] | None,
        typer.Option("--layers", help="top (default), mean, all, or the number of a layer; may be given again."),
    ] = None,
    store: Annotated[
        VectorStore, typer.Option("--store", help="The type in which vectors are kept; int8 takes half the room.")
    ] = "float16",
    words: Annotated[
        Path | None, typer.Option("--words", help="Keep the uses of the words of this file alone, one word a line.")
    ] = None,
    most_uses: Annotated[
        int | None, typer.Option("--most-uses", min=1, help="Keep so many uses of each word, at most, drawn evenly.")
    ] = None,
    tokenized: options.Tokenized = False,
    model: options.Model = None,
    precision: Annotated[
        Precision, typer.Option("--precision", help="The type in which vectors are computed; int8 is for CPUs.")
    ] = "float32",
    device: options.Device = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted build.")] = False,
) -> None:
    """Embed a text and keep the vector of each word in its context, to search and to look at.

    A million tokens take 1 GB for each layer of the packaged model (2 bytes a number), with --store int8 half of it,
    and as much again while the index is made. The layer without context (0) takes room for each distinct word alone.

    Example: elmo index build texts/ -o my-index
    """
    from elmo.analysis.index import build_index
    from elmo.embed.loading import load
    from elmo.weights.published.packaged import DEFAULT

    only_words = None if words is None else read_words(str(words))
    embedder = load(model, device=device, precision=precision)
    try:
        index = build_index(
            embedder,
            text,
            output,
            layers=[parse_layers(one) for one in layers or ["top"]],
            store=store,
            tokenized=tokenized,
            only_words=only_words,
            most_uses=most_uses,
            model_name=model or DEFAULT,
            resume=resume,
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; go on with: {command_again(context.obj.arguments)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    made = index.manifest
    size = sum(path.stat().st_size for path in output.iterdir())
    typer.echo(
        f"{output}: {made.rows:,} uses of {made.words:,} words in {made.sentences:,} sentences, layers "
        f"{', '.join(index.layers)} of {index.dim} dimensions ({size / 1e6:,.1f} MB)",
        err=True,
    )


def search(
    folder: Index,
    sentence: Annotated[str, typer.Argument(help="A sentence with the word.")],
    word: Annotated[str, typer.Option("--word", help="The word to ask about.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many uses.")] = 5,
    words: Annotated[
        Words, typer.Option("--words", help="Look at all words, only at the same word, or only at other words.")
    ] = "all",
    occurrence: Annotated[
        int | None,
        typer.Option("--occurrence", min=1, help="Which one, where the sentence has the word several times."),
    ] = None,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Bank in the sentence is the word bank.")] = False,
    layers: IndexLayer = None,
    centred: Centred = False,
    model: options.Model = None,
    device: options.Device = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a use.")] = False,
) -> None:
    """Show the uses in an index whose vectors are nearest to that of a word in a sentence.

    Every use is compared. The model must be the one that the index was made with.

    Example: elmo index search my-index "The actors rehearsed the play for weeks." --word play --words same
    """
    from elmo.analysis.index import answer_from_index, open_index
    from elmo.analysis.neighbors import Question
    from elmo.embed.loading import load

    index = open_index(folder)
    answers = answer_from_index(
        load(model, device=device),
        [Question(word, sentence, occurrence)],
        index,
        layer=layers,
        count=count,
        words=words,
        ignore_case=ignore_case,
        centred=centred,
    )
    require_found(answers, words)
    tell(answers, as_json=as_json, with_questions=False)


def uses(
    folder: Index,
    word: Annotated[str, typer.Argument(help="The word.")],
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many uses, spread evenly over all that there are.")
    ] = 20,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Bank is a use of bank.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a use.")] = False,
) -> None:
    """Show the uses of a word in an index, in the order of the text, each with its file and line.

    Example: elmo index uses my-index bank
    """
    from elmo.analysis.index import open_index

    index = open_index(folder)
    found = index.uses(word, ignore_case=ignore_case)
    if not len(found):
        similar = index.words.find(word, ignore_case=True)
        hint = f"; {index.words[similar[0]]!r} is (--ignore-case)" if len(similar) else ""
        raise InputError(f"{folder}: {word!r} is not among its {len(index.words):,} words{hint}")
    for use in found.spread(count).neighbors():
        if as_json:
            values = {"word": use.word, "place": use.place, "tokens": use.tokens, "file": use.file, "line": use.line}
            typer.echo(json.dumps(values, ensure_ascii=False))
        else:
            typer.echo(f"{use.file}:{use.line}  {use.marked}")
    typer.echo(f"{min(count, len(found)):,} of {len(found):,} uses", err=True)


def read_words(path: str) -> list[str]:
    """The words of a file, one a line."""
    from elmo.text.lines import read_lines

    words = [line.strip() for _, line in read_lines(path) if line.strip()]
    if not words:
        raise InputError(f"{path}: has no words; one a line is wanted")
    return words
