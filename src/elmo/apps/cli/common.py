"""What every command shares: options that may stand before or behind its name, and how messages are shown."""

import functools
import inspect
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Annotated, Any

import typer

from elmo.weights.published.offline import working_offline

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 120}  # columns, where the terminal has them

_TELLING: set[str] = set()  # loggers that a call made talkative


@dataclass
class CommandCall:
    """One call of the command line: its arguments, whether errors come with their traceback, and what ends with it."""

    arguments: list[str]
    debug: bool = False
    scopes: ExitStack = field(default_factory=ExitStack)


class Messages(logging.Handler):
    """Log messages on standard error, above a progress bar and not in the middle of it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        from tqdm import tqdm

        tqdm.write(f"elmo: {record.getMessage()}", file=sys.stderr)


@contextmanager
def one_call(arguments: list[str]) -> Iterator[CommandCall]:
    """Logging for one call; afterwards nothing is left of what its options said."""
    logging.basicConfig(level=logging.WARNING, handlers=[Messages()], force=True)
    call = CommandCall(arguments)
    try:
        with call.scopes:
            yield call
    finally:
        for name in _TELLING:
            logging.getLogger(name).setLevel(logging.NOTSET)


def tell_progress(*packages: str) -> None:
    """Show what these packages tell of a long work, also without --verbose; until the call ends."""
    for name in packages:
        logging.getLogger(name).setLevel(logging.INFO)
        _TELLING.add(name)


def _hear_debug(context: typer.Context, value: bool) -> bool:
    context.obj.debug = context.obj.debug or value
    return value


def _hear_verbose(value: bool) -> bool:
    if value:
        logging.getLogger().setLevel(logging.INFO)
    return value


def _hear_offline(context: typer.Context, value: bool) -> bool:
    if value:
        context.obj.scopes.enter_context(working_offline())
    return value


def _hear_version(value: bool) -> bool:
    if value:
        typer.echo(f"elmo {version('elmo-embeddings')}")
        raise typer.Exit
    return value


Verbose = Annotated[bool, typer.Option("--verbose", "-v", callback=_hear_verbose, help="Say more about what happens.")]
Debug = Annotated[bool, typer.Option("--debug", callback=_hear_debug, help="Show the traceback of an error.")]
Offline = Annotated[bool, typer.Option("--offline", callback=_hear_offline, help="Never ask the network for a model.")]
Version = Annotated[
    bool, typer.Option("--version", callback=_hear_version, is_eager=True, help="Show the version and exit.")
]
SHARED = {"verbose": Verbose, "debug": Debug, "offline": Offline}


def add_command(app: typer.Typer, name: str, function: Callable[..., Any]) -> None:
    """Add a command that takes the shared options behind its name too; the list of commands has its first sentence."""

    @functools.wraps(function)
    def run(**given: Any) -> Any:
        try:
            return function(**{option: value for option, value in given.items() if option not in SHARED})
        except KeyboardInterrupt:
            raise typer.Abort from None  # newer versions of typer would end with the code alone, without a word

    own = inspect.signature(function)
    more = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for option, annotation in SHARED.items()
    ]
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**function.__annotations__, **SHARED}
    summary = inspect.getdoc(function)
    assert summary is not None
    app.command(name, short_help=summary.splitlines()[0])(run)


def add_group(app: typer.Typer, name: str, summary: str, commands: dict[str, Callable[..., Any]]) -> None:
    """Add a group of commands under one name."""
    group = typer.Typer(help=summary, no_args_is_help=True, rich_markup_mode=None)
    group.callback()(lambda: None)  # a group even where it has one command
    for command, function in commands.items():
        add_command(group, command, function)
    app.add_typer(group, name=name, short_help=summary)
