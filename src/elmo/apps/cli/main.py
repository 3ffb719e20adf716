"""The entry point: sub-commands, logging, and one line for every error."""

import errno
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from elmo.apps.cli import (
    convert,
    corpus,
    embed,
    explore,
    finetune,
    index,
    info,
    models,
    neighbors,
    perplexity,
    plot,
    pretrain,
    push,
    reproduce,
    score,
    serve,
    similar,
    task,
    vocab,
    words,
)
from elmo.apps.cli.common import HELP, CommandCall, Debug, Offline, Verbose, Version, add_command, add_group, one_call
from elmo.apps.cli.resuming import INTERRUPTED
from elmo.errors import TORCH, ElmoError, MissingLibraryError

# Typer carries its own copy of click from 0.28 on; this is the base of its usage errors in every version.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]
_BETTER_SEEN = ("MissingParameter", "NoSuchOption", "NoSuchCommand", "UsageError")  # of click, beside its usage

app = typer.Typer(
    name="elmo",
    help="Deep contextualized word representations: embed text, train models, look into them, convert them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
)
add_command(app, "embed", embed.embed)
add_command(app, "words", words.words)
add_command(app, "similar", similar.similar)
add_command(app, "neighbors", neighbors.neighbors)
add_command(app, "plot", plot.plot)
add_command(app, "explore", explore.explore)
add_command(app, "serve", serve.serve)
add_command(app, "models", models.models)
add_command(app, "info", info.info)
add_command(app, "verify", info.verify)
add_command(app, "convert", convert.convert)
add_command(app, "push", push.push)
add_command(app, "pretrain", pretrain.pretrain)
add_command(app, "finetune", finetune.finetune)
add_command(app, "perplexity", perplexity.perplexity)
add_command(app, "score", score.score)
add_group(
    app,
    "index",
    "Keep the vector of each word of a text in its context, and search among them.",
    {"build": index.build, "search": index.search, "uses": index.uses},
)
add_group(app, "corpus", "Prepare text for training.", {"build": corpus.build})
add_group(app, "vocab", "Build, check and repair softmax vocabularies.", {"build": vocab.build, "check": vocab.check})
add_group(
    app,
    "task",
    "Train, score and use task models: names, tags, classes, entailment, answers, roles, coreference, word senses.",
    {
        "train": task.train,
        "evaluate": task.evaluate,
        "predict": task.predict,
        "wsd": task.wsd,
        "probe": task.probe,
    },
)
add_command(app, "reproduce", reproduce.reproduce)


@app.callback()
def common(version: Version = False, verbose: Verbose = False, debug: Debug = False, offline: Offline = False) -> None:
    """Deep contextualized word representations: embed text, train models, look into them, convert them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: exit code 0, 1 for a failure, 2 for a mistake of the user's, 130 when interrupted."""
    with one_call(sys.argv[1:] if arguments is None else list(arguments)) as call:
        return _run(call)


def _run(call: CommandCall) -> int:
    try:
        result = app(args=call.arguments, obj=call, prog_name="elmo", standalone_mode=False)
    except UsageProblem as error:
        message = _words(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            print(message, file=sys.stderr)
            return 2
        return _report(message + _usage(error), call, code=2)
    except typer.Exit as error:
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _report("interrupted", call, code=INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said there
        return 1
    except ElmoError as error:
        return _report(str(error), call, code=error.exit_code)
    except OSError as error:
        return _report(_fault(error), call, code=1)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return _report(f"this command needs {TORCH}", call, code=MissingLibraryError.exit_code)
    except Exception as error:
        return _report(f"internal error: {type(error).__name__}: {error} (--debug shows where)", call, code=1)
    return result if isinstance(result, int) else 0


def _words(error: Exception) -> str:
    """What Typer says; from 0.29 on it hands on what Pydantic says, which leaves out the value that was given."""
    message = str(getattr(error, "format_message", error.__str__)()).replace("Value error, ", "")
    found = getattr(error.__cause__, "errors", None)
    given = repr(found()[0].get("input")) if found else ""
    return message if given in message else f"{message} (it is {given})"


def _fault(error: OSError) -> str:
    """What the system refused, the file first, as in every other line."""
    if error.filename is None or error.strerror is None:
        return str(error)
    cure = "; choose another place, or ask for the right" if error.errno in (errno.EACCES, errno.EPERM) else ""
    return f"{error.filename}: {error.strerror}{cure}"


def _usage(error: Exception) -> str:
    """What is missing or unknown is easier to see beside what is wanted."""
    context = getattr(error, "ctx", None)
    if context is None or type(error).__name__ not in _BETTER_SEEN:
        return ""
    return f" {context.get_usage()} ({context.command_path} --help says more)"


def _report(message: str, call: CommandCall, *, code: int) -> int:
    if call.debug:
        traceback.print_exc()
    print("elmo: " + " ".join(message.split()), file=sys.stderr)
    return code
