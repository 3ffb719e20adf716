"""What the arguments of commands stand for: a tokenizer, a language model, a corpus store or text."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmo.text.tokenizer import Rule, Tokenizer
    from elmo.weights.loaded import LoadedModel


def choose_tokenizer(rule: "Rule | None", language: str | None, *, tokenized: bool) -> "Tokenizer":
    """The tokenizer for a text: as told; otherwise white space where it is tokenized, English where it is not."""
    from elmo.text.tokenizer import Tokenizer

    if tokenized and rule in (None, "whitespace"):
        return Tokenizer(rule="whitespace", language=language)
    return Tokenizer(rule=rule or "treebank", language=language or "en")


def read_language_model(source: str | None, softmax: Path | None) -> "LoadedModel":
    """A model with the softmax of a file, where one is given."""
    from elmo.weights.formats import read_model
    from elmo.weights.published.packaged import DEFAULT
    from elmo.weights.softmaxfile import add_softmax

    model = read_model(source or DEFAULT)
    return model if softmax is None else add_softmax(model, softmax)


def is_index(path: str) -> bool:
    """Whether a path is a word-in-context index."""
    from elmo.analysis.index.layout import MANIFEST

    return (Path(path) / MANIFEST).is_file()


def is_store(path: str) -> bool:
    """Whether a path is a corpus store rather than text."""
    from elmo.corpus.layout import MANIFEST

    return (Path(path) / MANIFEST).is_file()
