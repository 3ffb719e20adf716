"""`elmo similar`: how alike one word is in two sentences, layer by layer."""

from typing import Annotated

import typer

from elmo.apps.cli import options


def similar(
    word: Annotated[str, typer.Argument(help="The word to compare.")],
    first: Annotated[str, typer.Argument(help="A sentence with the word.")],
    second: Annotated[str, typer.Argument(help="Another sentence with the word.")],
    other: Annotated[
        str | None, typer.Option("--with", help="The word of the second sentence, where it is another one.")
    ] = None,
    model: options.Model = None,
    device: options.Device = None,
) -> None:
    """Show the cosine similarity of a word in two sentences, layer by layer.

    Example: elmo similar bank "I sat on the river bank ." "The bank approved my loan ." --model my-model
    """
    from elmo.analysis.similarity import compare_word
    from elmo.embed.loading import load

    embedder = load(model, device=device)
    for layer, cosine in enumerate(compare_word(embedder, (word, first), (other or word, second))):
        name = "tokens" if layer == 0 else f"LSTM {layer}"
        typer.echo(f"layer {layer}  {name:8s} {cosine:6.3f}")
