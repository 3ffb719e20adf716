"""`elmo embed`: a text file to a file of vectors."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from elmo.apps.cli import options
from elmo.apps.cli.resuming import INTERRUPTED, command_again
from elmo.embed.bulk.writers.formats import STANDARD_STREAM, SUFFIXES, Format, format_of
from elmo.embed.choices import Engine, Layers, Pooling, Precision, StoredDtype

if TYPE_CHECKING:
    from elmo.embed.bulk.job import BulkResult

NAMES = ("mean", "top", "all")


def embed(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Text (plain, .gz, .xz, .zst); - for standard input.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file to write; - for JSON lines on standard output.")
    ],
    model: options.Model = None,
    output_format: Annotated[
        Format | None,
        typer.Option("--format", help=f"Otherwise by the end of the output's name: {', '.join(SUFFIXES)}."),
    ] = None,
    layers: Annotated[
        str, typer.Option("--layers", help="mean, top, all, or the number of one layer (0: tokens, -1: top).")
    ] = "mean",
    pooling: Annotated[
        Pooling | None, typer.Option("--pooling", help="One vector a line: mean or max of its tokens.")
    ] = None,
    flat: Annotated[
        bool, typer.Option("--flat", help="Parquet with one row a token, for tables and databases (docs/tables.md).")
    ] = False,
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="Lines hold tokens with white space between them.")
    ] = False,
    no_split: options.NoSplitSentences = False,
    dtype: Annotated[StoredDtype, typer.Option("--dtype", help="The type in which vectors are stored.")] = "float32",
    precision: Annotated[
        Precision, typer.Option("--precision", help="The type in which vectors are computed; int8 is for CPUs.")
    ] = "float32",
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, help="Sentences in a batch, at most; 64, on a GPU 1024.")
    ] = None,
    state: options.StateOption = "settled",
    device: options.Device = None,
    engine: Annotated[
        Engine, typer.Option("--engine", help="local, or ray: a directory of Parquet shards, on a cluster.")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Worker processes (ray); as many as fit if not given.")
    ] = None,
    worker_cpus: Annotated[int, typer.Option("--worker-cpus", min=1, help="CPUs of each worker (ray).")] = 2,
    worker_gpus: Annotated[float, typer.Option("--worker-gpus", min=0, help="GPUs of each worker (ray).")] = 0,
    shard_lines: Annotated[
        int, typer.Option("--shard-lines", min=1, help="Lines in a shard (ray), the unit that is tried again.")
    ] = 10_000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run of the same job.")] = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Embed every line of a text: one row for each line, blank ones too, tokens beside their vectors.

    Sentences of a line are embedded one by one; the row says where they start.

    Example: elmo embed sentences.txt -o vectors.hdf5 --model my-model --layers all

    A directory is read file by file, in the order of the names; rows then say which file and line they are from. With
    - and -o - lines are answered as they come. With --engine ray a file or directory becomes a directory of Parquet
    shards (docs/speed.md).
    """
    from elmo.embed.bulk.job import embed_file
    from elmo.embed.bulk.options import BulkOptions
    from elmo.embed.loading import load

    wanted = BulkOptions(
        layers=parse_layers(layers),
        pooling=pooling,
        tokenized=tokenized,
        split_sentences=not no_split,
        batch_size=batch_size,
        dtype=dtype,
    )
    if flat:
        output_format = _flat(output, output_format, engine)
    if engine == "ray":
        from elmo.embed.bulk.ray_engine import Cluster, embed_with_ray

        if overwrite or output == STANDARD_STREAM or _is_file_name(output) or output_format not in (None, "parquet"):
            raise typer.BadParameter("--engine ray writes a new directory of Parquet files, or goes on with --resume")
        shards = embed_with_ray(
            source,
            output,
            model=model,
            options=wanted,
            device=device,
            precision=precision,
            state=state,
            cluster=Cluster(workers=workers, worker_cpus=worker_cpus, worker_gpus=worker_gpus),
            lines_in_shard=shard_lines,
            resume=resume,
        )
        typer.echo(f"{output}: complete, {shards:,} shards", err=True)
        return
    if workers is not None:
        raise typer.BadParameter("--workers is for --engine ray; leave it out")
    if output == STANDARD_STREAM and output_format not in (None, "jsonl"):
        raise typer.BadParameter(f"--format {output_format} needs a file; standard output has JSON lines")
    chosen = format_of(output, output_format)
    embedder = load(model, device=device, precision=precision, state=state)
    try:
        done = embed_file(
            embedder,
            source,
            output,
            options=wanted,
            output_format=chosen,
            resume=resume,
            overwrite=overwrite,
        )
    except KeyboardInterrupt:
        if STANDARD_STREAM in (source, output):
            raise
        typer.echo(f"interrupted; go on with: {command_again(context.obj.arguments)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(
        f"{output}: is finished already; nothing to resume" if done is None else _summary(output, done), err=True
    )


def _summary(output: str, done: "BulkResult") -> str:
    shape = done.shape
    layers = "" if shape.layers is None else f"{shape.layers} layers of "
    vectors = "one vector a line" if shape.pooled else "one vector a token"
    rate = f", {done.computed / done.seconds:,.0f} tokens/s" if done.computed and done.seconds else ""
    name = "" if output == STANDARD_STREAM else f"{output}: "
    return (
        f"{name}{done.lines:,} lines, {done.tokens:,} tokens, {vectors}, {layers}{shape.dim} dimensions"
        f" ({done.seconds:.1f} s{rate})"
    )


def _flat(output: str, output_format: Format | None, engine: Engine) -> Format:
    """The format that `--flat` means, where it can be."""
    if engine == "ray":
        raise typer.BadParameter("--flat is for one file; with --engine ray a row is a line")
    if output == STANDARD_STREAM or output_format not in (None, "parquet", "parquet-flat"):
        raise typer.BadParameter("--flat writes a Parquet file; name one")
    if output_format is None and format_of(output) != "parquet":
        raise typer.BadParameter(f"--flat writes a Parquet file, but {output!r} is none; let its name end in .parquet")
    return "parquet-flat"


def _is_file_name(output: str) -> bool:
    """Whether the name says that one file is meant; a directory of Parquet files may end like one of them."""
    return any(output.endswith(suffix) for suffix, name in SUFFIXES.items() if name != "parquet")


def parse_layers(text: str) -> Layers:
    """A choice of layers as typed: a name, or a number."""
    if text in NAMES:
        return cast(Layers, text)
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"--layers is {text!r}; it must be mean, top, all or a number") from None
