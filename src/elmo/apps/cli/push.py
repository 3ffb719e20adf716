"""`elmo push`: a model directory to the Hugging Face Hub."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli.output import say


def push(
    folder: Annotated[Path, typer.Argument(help="The model directory, as this program writes it.")],
    repository: Annotated[str, typer.Argument(help="The repository, user/name; it is made if it is not there.")],
    private: Annotated[bool, typer.Option("--private", help="Make the repository private, if it is made.")] = False,
    message: Annotated[str | None, typer.Option("--message", help="What the commit says.")] = None,
) -> None:
    """Send a model to the Hugging Face Hub, so that hf:user/name is its name everywhere. Log in with `hf auth login`.

    Only the files of a model go: no code, no checkpoints. Write its README.md first: data, licence, figures.

    Example: elmo push run/model me/elmo-icelandic
    """
    from elmo.weights.published.hub import push_to_hub

    say(push_to_hub(folder, repository, private=private, message=message))
