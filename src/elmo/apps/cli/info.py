"""`elmo info` and `elmo verify`: what a model is, and whether a model or a corpus is sound."""

import json
from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli.reading import is_store
from elmo.errors import ElmoError


def info(
    model: Annotated[str, typer.Argument(help="A model: a directory, a file, or a name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what a model is: format, architecture, sizes, tokenizer, vocabulary, hash.

    Example: elmo info my-model
    """
    from elmo.weights.describe import describe_model

    facts = describe_model(model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:{width}s}  {value:,}" if isinstance(value, int) else f"{name:{width}s}  {value}")


def verify(
    model: Annotated[str, typer.Argument(help="A model (a directory, a file, or a name), or a corpus store.")],
) -> None:
    """Check a model: hashes, shapes, finite numbers, and the vectors of a self-test sentence; or a corpus store.

    Example: elmo verify my-model
    """
    from elmo.corpus.verify import verify_store
    from elmo.weights.verify import verify_model

    findings = verify_store(Path(model)) if is_store(model) else verify_model(model)
    for finding in findings:
        typer.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}")
    faults = [finding.what for finding in findings if not finding.ok]
    if faults:
        named = faults[0] if model in faults[0] else f"{model}: {faults[0]}"
        raise ElmoError(f"{len(faults)} of {len(findings)} checks failed: {named}")
