"""`elmo info` and `elmo verify`: what a model or an index is, and whether one, or a corpus, is sound."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from elmo.apps.cli.reading import is_index, is_store
from elmo.disk.finding import Finding
from elmo.errors import ElmoError
from elmo.weights.published.packaged import DEFAULT


def info(
    model: Annotated[
        str,
        typer.Argument(
            help="A model (a directory, a file, or a name), or an index; the packaged model if none.",
            show_default=False,
        ),
    ] = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what a model is: format, architecture, sizes, tokenizer, vocabulary, hash; or what an index holds.

    Example: elmo info my-model
    """
    facts = _facts(model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:{width}s}  {value:,}" if isinstance(value, int) else f"{name:{width}s}  {value}")


def verify(
    model: Annotated[
        str,
        typer.Argument(
            help="A model (a directory, a file, a name), a corpus store, or an index; the packaged model if none.",
            show_default=False,
        ),
    ] = DEFAULT,
) -> None:
    """Check a model: hashes, shapes, finite numbers, and the vectors of a self-test sentence; or a corpus, or an index.

    Example: elmo verify my-model
    """
    findings = _findings(model)
    for finding in findings:
        typer.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}")
    faults = [finding.what for finding in findings if not finding.ok]
    if faults:
        named = faults[0] if model in faults[0] else f"{model}: {faults[0]}"
        raise ElmoError(f"{len(faults)} of {len(findings)} checks failed: {named}")


def _facts(path: str) -> dict[str, Any]:
    if is_index(path):
        from elmo.analysis.index.describe import describe_index

        return describe_index(Path(path))
    from elmo.weights.describe import describe_model

    return describe_model(path)


def _findings(path: str) -> list[Finding]:
    if is_index(path):
        from elmo.analysis.index.describe import verify_index

        return verify_index(Path(path))
    if is_store(path):
        from elmo.corpus.verify import verify_store

        return verify_store(Path(path))
    from elmo.weights.verify import verify_model

    return verify_model(path)
