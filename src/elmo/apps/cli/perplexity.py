"""`elmo perplexity`: how well a model predicts a text."""

from typing import Annotated, get_args

import typer

from elmo.apps.cli import options
from elmo.apps.cli.output import perplexity_line
from elmo.apps.cli.reading import is_store, read_language_model
from elmo.model.choices import StateMode


def perplexity(
    text: Annotated[
        list[str], typer.Argument(help="Text files, directories, -, or one corpus store (its held-out part).")
    ],
    model: options.Model = None,
    tokenized: options.Tokenized = False,
    state: Annotated[
        StateMode | None, typer.Option("--state", help="Where a sentence starts; all three if not given.")
    ] = None,
    softmax: options.SoftmaxFile = None,
    device: options.Device = None,
) -> None:
    """Measure the perplexity of a text over the full vocabulary: forward, backward and their average.

    Example: elmo perplexity heldout.txt --model run/model
    """
    from elmo.corpus.store import CorpusStore
    from elmo.lm.perplexity import store_perplexity, text_perplexity
    from elmo.text.textfiles import sentences_of_files

    loaded = read_language_model(model, softmax)
    for mode in [state] if state is not None else get_args(StateMode):
        if len(text) == 1 and is_store(text[0]):
            found = store_perplexity(loaded, CorpusStore.open(text[0]), state=mode, device=device)
        else:
            sentences = sentences_of_files(text, loaded.tokenizer, tokenized=tokenized)
            found = text_perplexity(loaded, sentences, state=mode, device=device)
        typer.echo(perplexity_line(found))
