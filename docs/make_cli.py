"""Writes docs/cli.md from the program's own --help: python docs/make_cli.py. A test says when the page is stale."""

import contextlib
import io
import os
from pathlib import Path

from elmo.apps.cli import main

PAGE = Path(__file__).with_name("cli.md")
COMMANDS: list[list[str]] = [
    [],
    ["embed"],
    ["words"],
    ["similar"],
    ["neighbors"],
    ["plot"],
    ["explore"],
    ["index", "build"],
    ["index", "search"],
    ["index", "uses"],
    ["serve"],
    ["models"],
    ["info"],
    ["verify"],
    ["convert"],
    ["push"],
    ["vocab", "build"],
    ["vocab", "check"],
    ["corpus", "build"],
    ["pretrain"],
    ["finetune"],
    ["perplexity"],
    ["score"],
    ["task", "train"],
    ["task", "evaluate"],
    ["task", "predict"],
    ["task", "wsd"],
    ["task", "probe"],
    ["reproduce"],
]
INTRODUCTION = """# Command line

Made from `--help` by `docs/make_cli.py`. `-` is standard input or output. Errors are one line and exit with 2 for
mistakes of the user's, 1 for failures; `elmo --debug COMMAND ...` shows the traceback. A training run that is
interrupted saves and exits with 130; one that reaches its `--time-limit` exits with 0.

A file that stands in the place of an output is replaced with `--overwrite`. A corpus store, an index and a training
run took long to make and are never replaced: go on with `--resume`, choose another name, or delete the folder yourself.
"""


def page() -> str:
    """The whole page."""
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = "100"
    parts = [INTRODUCTION]
    for command in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main([*command, "--help"])
        text = "\n".join(line.rstrip() for line in output.getvalue().strip().splitlines())
        parts.append(f"## {' '.join(['elmo', *command])}\n\n```console\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
