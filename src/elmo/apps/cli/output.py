"""What commands print: a line once, though several processes run, and a perplexity in one line."""

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from elmo.lm.perplexity import Perplexity


def say(line: str) -> None:
    """A line of the result, once: only the first of several processes (torchrun) speaks."""
    joined = sys.modules.get("elmo.run.distributed")  # what joins processes; it needs torch
    if joined is None or joined.started_world().is_first:
        typer.echo(line)


def perplexity_line(found: "Perplexity") -> str:
    """A perplexity in one line: both directions, their average, and how much of the text the vocabulary lacks."""
    backward = "" if found.backward is None else f", backward {found.backward:.2f}"
    return (
        f"{found.average:.2f} (forward {found.forward:.2f}{backward}; {found.words:,} words, "
        f"{found.unknown_rate:.2%} out of vocabulary; state {found.state})"
    )
