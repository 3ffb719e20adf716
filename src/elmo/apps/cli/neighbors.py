"""`elmo neighbors`: the nearest neighbours of a word in its context."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.embed import parse_layers
from elmo.apps.cli.perplexity import read_sentences
from elmo.errors import InputError

if TYPE_CHECKING:
    from elmo.analysis.neighbors import Neighbor


class Words(StrEnum):
    """Which words may be neighbours."""

    all = "all"
    same = "same"
    other = "other"


def neighbors(
    word: Annotated[str, typer.Argument(help="The word to ask about.")],
    sentence: Annotated[str, typer.Argument(help="A sentence with the word.")],
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text", help="Text files or directories to search (several times); 460 packaged sentences if none."
        ),
    ] = None,
    tokenized: options.Tokenized = False,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many neighbours.")] = 5,
    words: Annotated[
        Words, typer.Option("--words", help="Look at all words, only at the same word, or only at other words.")
    ] = Words.all,
    layers: Annotated[str, typer.Option("--layers", help="top, mean, or the number of one layer (0: tokens).")] = "top",
    model: options.Model = None,
    device: options.Device = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a neighbour.")] = False,
) -> None:
    """Show the words of other sentences whose vectors are nearest to that of a word in its sentence.

    Example: elmo neighbors play "The actors rehearsed the play for weeks."
    """
    from elmo.analysis.examples import read_collection
    from elmo.analysis.neighbors import find_neighbors
    from elmo.embed.load import load
    from elmo.text.files import expand_paths

    embedder = load(model, device=device)
    tokenizer = embedder.model.tokenizer
    sentences = read_sentences(text, tokenizer, tokenized=tokenized) if text else iter(read_collection())
    (found,) = find_neighbors(
        embedder,
        [(word, sentence)],
        sentences,
        layers=parse_layers(layers),
        count=count,
        words=words.value,
        files=expand_paths(text or ()),
    )
    if not found:
        raise InputError(f"no word to compare with {word!r} (--words {words.value}) in the sentences searched")
    for neighbor in found:
        typer.echo(_line(neighbor, as_json=as_json))


def _line(neighbor: "Neighbor", *, as_json: bool) -> str:
    if as_json:
        return json.dumps(
            {
                "similarity": round(neighbor.similarity, 4),
                "word": neighbor.word,
                "place": neighbor.place,
                "tokens": neighbor.tokens,
            },
            ensure_ascii=False,
        )
    return f"{neighbor.similarity:6.3f}  {neighbor.marked}"
