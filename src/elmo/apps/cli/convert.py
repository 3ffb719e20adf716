"""`elmo convert`: a model of one format to another, or stored in fewer bits."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.output import say
from elmo.errors import InputError
from elmo.weights.choices import SoftmaxStorage, Storage, Target

# Of single files with weights; a model here is a directory.
FILE_SUFFIXES = (".pt", ".pth", ".bin", ".th", ".pkl", ".ckpt", ".hdf5", ".h5", ".safetensors", ".zip", ".npz")


def convert(
    source: Annotated[str, typer.Argument(help="The model to read: a directory, a file, or a name.")],
    target: Annotated[str, typer.Argument(help="The directory to write, or a file whose name ends in .onnx.")],
    target_format: Annotated[
        Target | None,
        typer.Option(
            "--to",
            help="native (the default), bilm-tf (options.json and weights.hdf5; AllenNLP reads it too), onnx, or "
            "transformers (a native one that Hugging Face's library reads too).",
        ),
    ] = None,
    storage: Annotated[
        Storage,
        typer.Option("--storage", help="The type of stored weights (native); int8: with a scale a row."),
    ] = "float32",
    with_softmax: Annotated[
        bool, typer.Option("--with-softmax", help="Keep the softmax, which only language modelling needs (native).")
    ] = False,
    softmax_to: Annotated[
        Path | None,
        typer.Option(
            "--softmax-to",
            help="Write the softmax apart, to this file; TARGET/softmax.safetensors is a part of the model.",
        ),
    ] = None,
    softmax_storage: Annotated[
        SoftmaxStorage, typer.Option("--softmax-storage", help="The bits of a softmax apart (--softmax-to).")
    ] = "int8",
    card: Annotated[
        Path | None,
        typer.Option("--card", exists=True, dir_okay=False, help="A Markdown file to be the model's README.md."),
    ] = None,
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
    """Convert a model between formats or to fewer bits; refuses where the target cannot hold it.

    Example: elmo convert run/model small-model --storage int8 --softmax-to small-softmax.safetensors
    """
    from elmo.disk.guarded.plainfiles import read_text
    from elmo.weights.card import converted_card
    from elmo.weights.formats import read_model, write_model
    from elmo.weights.native import MOST_CARD_BYTES
    from elmo.weights.onnxfile import write_onnx
    from elmo.weights.softmaxfile import SOFTMAX, write_softmax
    from elmo.weights.transformersfolder import write_transformers

    model = read_model(source, options=options_file, embedding=embedding, vocabulary=vocabulary)
    if model.source is not None and Path(model.source).resolve() == Path(target).resolve():
        raise typer.BadParameter(f"{target} is the model that is read; choose another target")
    if (with_softmax or softmax_to is not None) and not model.has_softmax:
        raise typer.BadParameter(f"{source} has no softmax to keep; leave --with-softmax and --softmax-to out")
    within = softmax_to is not None and softmax_to.resolve() == (Path(target) / SOFTMAX).resolve()
    if softmax_to is None and softmax_storage != "int8":
        raise typer.BadParameter("--softmax-storage is of a softmax apart; say where with --softmax-to")
    if within and (with_softmax or target_format == "bilm-tf"):
        raise typer.BadParameter(f"--softmax-to {softmax_to} keeps the softmax in a native model; leave the others out")
    if softmax_to is not None and not within:
        options.refuse_existing(softmax_to, overwrite=overwrite)
    if target_format == "onnx" or (target_format is None and target.lower().endswith(".onnx")):
        native_only = {
            "--storage": storage != "float32",
            "--with-softmax": with_softmax,
            "--softmax-to": softmax_to is not None,
            "--card": card is not None,
        }
        if given := [name for name, is_given in native_only.items() if is_given]:
            raise typer.BadParameter(f"{', '.join(given)}: an ONNX file has no place for that; leave it out")
        write_onnx(model, Path(target), overwrite=overwrite)
        return
    if Path(target).suffix.lower() in FILE_SUFFIXES and not Path(target).is_dir():
        raise typer.BadParameter(
            f"{target} looks like a file, but a model is a directory; leave {Path(target).suffix} out, or name an .onnx"
        )
    text = None if card is None else read_text(card, most_bytes=MOST_CARD_BYTES, refusal=InputError)
    if target_format == "transformers":
        if with_softmax or softmax_to is not None:
            raise typer.BadParameter(
                "transformers has no place for the softmax; leave out --with-softmax and --softmax-to"
            )
        write_transformers(
            model,
            Path(target),
            storage=storage,
            card=text or converted_card(model.card, storage),
            overwrite=overwrite,
        )
        return
    kept = model if with_softmax or within else model.replace(softmax=None)
    chosen = target_format or "native"
    write_model(
        kept,
        target,
        format=chosen,
        storage=storage,
        card=text or converted_card(model.card, storage),
        overwrite=overwrite,
        softmax=softmax_storage if within else None,
    )
    if softmax_to is not None and not within:
        write_softmax(model, softmax_to, bilms=[read_model(target).sha256], storage=softmax_storage)
    elif model.has_softmax and not kept.has_softmax and chosen == "native":
        say("the softmax is left out; --with-softmax keeps it, --softmax-to writes it apart")
