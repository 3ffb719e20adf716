"""Options that several commands share, with one wording."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from elmo.errors import UserError

Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="A model: a directory, an HDF5 file with its options beside it, or a name."),
]
Device = Annotated[str | None, typer.Option("--device", help="cpu, cuda, cuda:1, ...; a GPU if there is one.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands in the place of the output.")]


class State(StrEnum):
    """Where a sentence starts."""

    settled = "settled"
    zero = "zero"
    carry = "carry"


StateOption = Annotated[
    State,
    typer.Option(
        "--state",
        help="Where a sentence starts: the model's settled state, zero, or the end of the one before (carry).",
    ),
]


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """An output that stands already is replaced only when told so."""
    if path.exists() and not overwrite:
        raise UserError(f"{path}: exists already; choose another name or add --overwrite")
