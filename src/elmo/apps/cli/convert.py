"""`elmo convert`: a model of one format to another."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options


class Target(StrEnum):
    """Formats that can be written."""

    native = "native"
    bilm_tf = "bilm-tf"
    onnx = "onnx"


class Storage(StrEnum):
    """The type in which weights are stored (native format)."""

    float32 = "float32"
    float16 = "float16"
    bfloat16 = "bfloat16"


def convert(
    source: Annotated[str, typer.Argument(help="The model to read: a directory, a file, or a name.")],
    target: Annotated[str, typer.Argument(help="The directory to write, or a file whose name ends in .onnx.")],
    target_format: Annotated[
        Target | None,
        typer.Option(
            "--to",
            help="native (the default), bilm-tf (options.json and weights.hdf5; AllenNLP reads it too), or onnx.",
        ),
    ] = None,
    storage: Annotated[
        Storage, typer.Option("--storage", help="The type of stored weights (native).")
    ] = Storage.float32,
    options_file: Annotated[
        Path | None,
        typer.Option("--options", help="The options.json of an HDF5 file, where it does not lie beside it."),
    ] = None,
    embedding: Annotated[
        Path | None, typer.Option("--embedding", help="bilm-tf's token cache: read words from it, not characters.")
    ] = None,
    vocabulary: Annotated[
        Path | None, typer.Option("--vocabulary", help="The vocabulary of a model of words, or of a token cache.")
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Convert a model between formats; refuses where the target cannot hold it.

    Example: elmo convert elmo_weights.hdf5 my-model
    """
    from elmo.weights.formats import Format, read_model, write_model
    from elmo.weights.onnxfile import write_onnx

    model = read_model(source, options=options_file, embedding=embedding, vocabulary=vocabulary)
    if target_format is Target.onnx or (target_format is None and target.lower().endswith(".onnx")):
        write_onnx(model, Path(target), overwrite=overwrite)
    else:
        chosen: Format = "bilm-tf" if target_format is Target.bilm_tf else "native"
        write_model(model, target, format=chosen, storage=storage.value, overwrite=overwrite)
