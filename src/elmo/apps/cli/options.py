"""Options that several commands share, with one wording."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.errors import UserError

if TYPE_CHECKING:
    from elmo.lm.perplexity import Perplexity
    from elmo.text.tokenizer import Tokenizer
    from elmo.weights.loaded import LoadedModel

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A model: a directory, an HDF5 file with its options beside it, or a name; the packaged one if none.",
    ),
]
SoftmaxFile = Annotated[
    Path | None,
    typer.Option("--softmax", help="A softmax file for a model without one (elmo convert --softmax-to writes it)."),
]
Device = Annotated[str | None, typer.Option("--device", help="cpu, cuda, cuda:1, ...; a GPU if there is one.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands in the place of the output.")]


class Rule(StrEnum):
    """How raw text becomes tokens."""

    treebank = "treebank"
    unicode = "unicode"
    whitespace = "whitespace"


RuleOption = Annotated[
    Rule | None,
    typer.Option("--rule", help="How raw text becomes tokens: treebank (English, default) or unicode (any language)."),
]
Language = Annotated[
    str | None, typer.Option("--language", help="The language, for finding sentences: en, de, pt-BR, ...")
]
Tokenized = Annotated[
    bool, typer.Option("--tokenized", help="Each line is a sentence, its tokens between white space.")
]


class Lines(StrEnum):
    """What a line of raw text is."""

    auto = "auto"
    wrapped = "wrapped"
    whole = "whole"


LinesOption = Annotated[
    Lines,
    typer.Option(
        "--lines",
        help="What a line of raw text is: whole (one or more sentences), wrapped (cut at a width: lines are joined up "
        "to the next blank one), or auto: found out for each file.",
    ),
]
NoSplitSentences = Annotated[
    bool, typer.Option("--no-split-sentences", help="Each line of raw text is one sentence, whatever it holds.")
]


class State(StrEnum):
    """Where a sentence starts."""

    settled = "settled"
    zero = "zero"
    carry = "carry"


class Start(StrEnum):
    """Where a sentence by itself starts."""

    settled = "settled"
    zero = "zero"


StartOption = Annotated[
    Start, typer.Option("--state", help="Where a sentence starts: the model's settled state, or zero.")
]
StateOption = Annotated[
    State,
    typer.Option(
        "--state",
        help="Where a sentence starts: the model's settled state, zero, or the end of the one before (carry).",
    ),
]


def choose_tokenizer(rule: Rule | None, language: str | None, *, tokenized: bool) -> "Tokenizer":
    """The tokenizer for a text: as told; otherwise white space where it is tokenized, English where it is not."""
    from elmo.text.tokenizer import Tokenizer

    if tokenized and rule in (None, Rule.whitespace):
        return Tokenizer(rule="whitespace", language=language)
    return Tokenizer(rule=(rule or Rule.treebank).value, language=language or "en")


def read_language_model(source: str | None, softmax: Path | None) -> "LoadedModel":
    """A model with the softmax of a file, where one is given."""
    from elmo.weights.formats import read_model
    from elmo.weights.published.packaged import DEFAULT
    from elmo.weights.softmaxfile import add_softmax

    model = read_model(source or DEFAULT)
    return model if softmax is None else add_softmax(model, softmax)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """An output that stands already is replaced only when told so."""
    if path.exists() and not overwrite:
        raise UserError(f"{path}: exists already; choose another name or add --overwrite")


def perplexity_line(found: "Perplexity") -> str:
    """A perplexity in one line: both directions, their average, and how much of the text the vocabulary lacks."""
    backward = "" if found.backward is None else f", backward {found.backward:.2f}"
    return (
        f"{found.average:.2f} (forward {found.forward:.2f}{backward}; {found.words:,} words, "
        f"{found.unknown_rate:.2%} out of vocabulary; state {found.state})"
    )
