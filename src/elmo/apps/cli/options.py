"""Options that several commands share, with one wording. Choices are the library's own, from modules without torch."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.errors import UserError
from elmo.model.choices import Start, StateMode
from elmo.text.tokenizer import Rule
from elmo.text.wrapped import Lines

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
StartOption = Annotated[
    Start, typer.Option("--state", help="Where a sentence starts: the model's settled state, or zero.")
]
StateOption = Annotated[
    StateMode,
    typer.Option(
        "--state",
        help="Where a sentence starts: the model's settled state, zero, or the end of the one before (carry).",
    ),
]


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """An output that stands already is replaced only when told so."""
    if path.exists() and not overwrite:
        raise UserError(f"{path}: exists already; choose another name or add --overwrite")
