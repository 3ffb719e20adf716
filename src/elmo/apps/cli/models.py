"""`elmo models`: the models that have a name."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elmo.errors import InputError

if TYPE_CHECKING:
    from elmo.weights.published.catalogue import KnownModel

HEADS = ("name", "language", "parameters", "licence", "here", "address")
UNKNOWN = "unknown"


def models(
    wanted: Annotated[
        str | None, typer.Argument(help="A part of a name or of a language, or its code; all models if none.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a model, with all that is known.")] = False,
) -> None:
    """List the models that have a name: language, size, licence, address, and whether they are on this machine.

    `here` is what a model takes on this machine; one that is not here is downloaded when it is first used. Besides
    those listed, nlpl-NUMBER is any ELMo model of NLPL's repository (https://vectors.nlpl.eu/repository/).

    Example: elmo models german
    """
    from elmo.weights.published.catalogue import find_models, known_models

    found = known_models() if wanted is None else find_models(wanted)
    if not found:
        raise InputError(
            f"{wanted!r}: no model of that name or language; `elmo models` lists all, and nlpl-NUMBER is any ELMo "
            "model of https://vectors.nlpl.eu/repository/"
        )
    if as_json:
        for model in found:
            typer.echo(json.dumps(_values(model), ensure_ascii=False))
        return
    rows = [HEADS, *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(model: "KnownModel") -> tuple[str, ...]:
    return (
        model.name,
        model.language_name or "-",
        UNKNOWN if model.parameters is None else f"{model.parameters / 1e6:.1f} M",
        model.licence.partition(" (")[0],
        "no" if model.bytes is None else f"{model.bytes / 1e6:.1f} MB",
        model.addresses[0] if len(model.addresses) == 1 else model.page or "in the package",
    )


def _values(model: "KnownModel") -> dict[str, Any]:
    path = None if model.path is None else str(model.path)
    return {**asdict(model), "language_name": model.language_name, "path": path}
