"""`elmo score`: what a language model thinks of each token."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.reading import read_language_model
from elmo.errors import InputError

if TYPE_CHECKING:
    from elmo.lm.score import Substitute, TokenScore


def score(
    text: Annotated[list[str], typer.Argument(help="Text files, directories, or -.")],
    model: options.Model = None,
    tokenized: options.Tokenized = False,
    substitutes_for: Annotated[
        str | None, typer.Option("--substitutes", help="Show the words that fit best in the place of this one.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many substitutes.")] = 10,
    softmax: options.SoftmaxFile = None,
    state: options.StartOption = "settled",
    device: options.Device = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a sentence.")] = False,
) -> None:
    """Print each token's log-probability from both directions and its surprisal, or substitutes for a word.

    Example: elmo score sentences.txt --model run/model
    """
    from elmo.lm.score import score_sentences, substitutes
    from elmo.text.textfiles import sentences_of_files

    loaded = read_language_model(model, softmax)
    sentences = list(sentences_of_files(text, loaded.tokenizer, tokenized=tokenized))
    if substitutes_for is None:
        for sentence, scores in zip(
            sentences, score_sentences(loaded, sentences, state=state, device=device), strict=True
        ):
            show_scores(sentence, scores, as_json=as_json)
        return
    places = [(s, s.index(substitutes_for)) for s in sentences if substitutes_for in s]
    if not places:
        raise InputError(f"{substitutes_for!r} is in none of the {len(sentences)} sentences")
    for sentence, place in places:
        found = substitutes(loaded, sentence, place, count=count, state=state, device=device)
        show_substitutes(sentence, place, found, as_json=as_json)


def show_scores(sentence: list[str], scores: "list[TokenScore]", *, as_json: bool) -> None:
    """One sentence, a token a line."""
    if as_json:
        tokens = [
            {"token": s.token, "known": s.known, "forward": s.forward, "backward": s.backward, "bits": s.surprisal}
            for s in scores
        ]
        typer.echo(json.dumps({"tokens": sentence, "scores": tokens}))
        return
    typer.echo(f"{'token':20s} {'forward':>9s} {'backward':>9s} {'bits':>7s}")
    for s in scores:
        backward = "" if s.backward is None else f"{s.backward:9.3f}"
        unknown = "" if s.known else "  (unknown)"
        typer.echo(f"{s.token:20s} {s.forward:9.3f} {backward:>9s} {s.surprisal:7.2f}{unknown}")
    typer.echo("")


def show_substitutes(sentence: list[str], place: int, found: "list[Substitute]", *, as_json: bool) -> None:
    """One sentence, and a word a line."""
    if as_json:
        words = [{"word": s.word, "score": s.score} for s in found]
        typer.echo(json.dumps({"tokens": sentence, "position": place, "substitutes": words}))
        return
    typer.echo(" ".join(sentence))
    for s in found:
        typer.echo(f"  {s.word:20s} {s.score:8.4f}")
