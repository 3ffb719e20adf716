"""Runs that are resumed: how an unfinished one ends, and the command that goes on with it."""

import os
import shlex
from collections.abc import Sequence

import typer

INTERRUPTED = 130  # as a shell has it for Ctrl-C
NOTHING_GAINED = 3  # a fine-tuning left the model as it was: a script may want to know


def end_unfinished(status: str) -> None:
    """An interrupted run exits with 130, so that a script goes no further; a time limit is an end as planned."""
    if status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def command_again(arguments: Sequence[str]) -> str:
    """The command line that goes on with the run that these arguments began."""
    processes = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    program = ["elmo"] if processes == 1 else ["torchrun", "--nproc-per-node", str(processes), "-m", "elmo"]
    return shlex.join([*program, *(argument for argument in arguments if argument != "--resume"), "--resume"])
