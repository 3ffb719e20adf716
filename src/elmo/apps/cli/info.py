"""`elmo info` and `elmo verify`: what a model file is, and whether it is sound."""

import json
from typing import Annotated

import typer


def info(
    model: Annotated[str, typer.Argument(help="A model: a directory, a file, or a name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what a model is: format, architecture, sizes, tokenizer, vocabulary, hash.

    Example: elmo info my-model
    """
    from elmo.weights.describe import describe

    facts = describe(model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:{width}s}  {value:,}" if isinstance(value, int) else f"{name:{width}s}  {value}")


def verify(model: Annotated[str, typer.Argument(help="A model: a directory, a file, or a name.")]) -> int:
    """Check a model: hashes, shapes, finite numbers, and the vectors of a self-test sentence.

    Example: elmo verify my-model
    """
    from elmo.weights.verify import verify as check

    findings = check(model)
    for finding in findings:
        typer.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}")
    return 0 if all(finding.ok for finding in findings) else 1
