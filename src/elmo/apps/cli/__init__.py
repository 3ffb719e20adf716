"""The command `elmo`. Each sub-command is a thin function over a public one; heavy modules load when a command runs."""

from elmo.apps.cli.main import main

__all__ = ["main"]
