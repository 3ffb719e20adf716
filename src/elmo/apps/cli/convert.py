"""`elmo convert`: a model of one format to another."""

from enum import StrEnum
from typing import Annotated

import typer

from elmo.apps.cli import options


class Target(StrEnum):
    """Formats that can be written."""

    native = "native"
    bilm_tf = "bilm-tf"


class Storage(StrEnum):
    """The type in which weights are stored (native format)."""

    float32 = "float32"
    float16 = "float16"
    bfloat16 = "bfloat16"


def convert(
    source: Annotated[str, typer.Argument(help="The model to read: a directory, a file, or a name.")],
    target: Annotated[str, typer.Argument(help="The directory to write.")],
    target_format: Annotated[
        Target, typer.Option("--to", help="native, or bilm-tf (options.json and weights.hdf5; AllenNLP reads it too).")
    ] = Target.native,
    storage: Annotated[
        Storage, typer.Option("--storage", help="The type of stored weights (native).")
    ] = Storage.float32,
    overwrite: options.Overwrite = False,
) -> None:
    """Convert a model between formats; refuses where the target cannot hold it.

    Example: elmo convert elmo_weights.hdf5 my-model
    """
    from elmo.weights.formats import read_model, write_model

    write_model(read_model(source), target, format=target_format.value, storage=storage.value, overwrite=overwrite)
