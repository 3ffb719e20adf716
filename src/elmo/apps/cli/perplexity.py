"""`elmo perplexity`: how well a model predicts a text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.corpus import is_store

if TYPE_CHECKING:
    from elmo.text.tokenizer import Tokenizer


def perplexity(
    text: Annotated[
        list[str], typer.Argument(help="Text files, directories, -, or one corpus store (its held-out part).")
    ],
    model: options.Model = None,
    tokenized: options.Tokenized = False,
    state: Annotated[
        options.State | None, typer.Option("--state", help="Where a sentence starts; all three if not given.")
    ] = None,
    softmax: options.SoftmaxFile = None,
    device: options.Device = None,
) -> None:
    """Measure the perplexity of a text over the full vocabulary: forward, backward and their average.

    Example: elmo perplexity heldout.txt --model run/model
    """
    from elmo.corpus.store import CorpusStore
    from elmo.lm.perplexity import store_perplexity, text_perplexity

    loaded = options.read_language_model(model, softmax)
    for mode in [state] if state is not None else list(options.State):
        if len(text) == 1 and is_store(text[0]):
            found = store_perplexity(loaded, CorpusStore.open(text[0]), state=mode.value, device=device)
        else:
            sentences = read_sentences(text, loaded.tokenizer, tokenized=tokenized)
            found = text_perplexity(loaded, sentences, state=mode.value, device=device)
        typer.echo(options.perplexity_line(found))


def read_sentences(paths: list[str], tokenizer: "Tokenizer", *, tokenized: bool) -> Iterator[list[str]]:
    """The sentences of some files: lines of tokens, or raw lines split into sentences by the model's rule."""
    return (words for _, _, words in read_placed_sentences(paths, tokenizer, tokenized=tokenized))


def read_placed_sentences(
    paths: list[str], tokenizer: "Tokenizer", *, tokenized: bool
) -> Iterator[tuple[str, int, list[str]]]:
    """The same with the file and the line (from 1) that each stands in."""
    from elmo.text.lines import expand_paths, read_lines

    for path in expand_paths(paths):
        for number, line in read_lines(path):
            for words in [line.split()] if tokenized else tokenizer.sentence_words(line):
                if words:
                    yield path, number, words
