"""The entry point: sub-commands, logging, and one line for every error."""

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from elmo.apps.cli import (
    convert,
    corpus,
    embed,
    finetune,
    info,
    neighbors,
    perplexity,
    pretrain,
    score,
    similar,
    task,
    vocab,
)
from elmo.apps.cli.again import INTERRUPTED
from elmo.errors import ElmoError

# Typer carries its own copy of click from 0.28 on; this is the base of its usage errors in every version.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="elmo",
    help="Deep contextualized word representations: embed text, train models, look into them, convert them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("embed")(embed.embed)
app.command("similar")(similar.similar)
app.command("neighbors")(neighbors.neighbors)
app.command("info")(info.info)
app.command("verify")(info.verify)
app.command("convert")(convert.convert)
app.command("pretrain")(pretrain.pretrain)
app.command("finetune")(finetune.finetune)
app.command("perplexity")(perplexity.perplexity)
app.command("score")(score.score)
app.add_typer(corpus.app, name="corpus")
app.add_typer(vocab.app, name="vocab")
app.add_typer(task.app, name="task")


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more about what happens.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Never ask the network for a model.")] = False,
) -> None:
    """Deep contextualized word representations: embed text, train models, look into them, convert them."""
    os.environ["ELMO_DEBUG"] = "1" if debug else ""
    if offline:
        os.environ["ELMO_OFFLINE"] = "1"
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="elmo: %(message)s", stream=sys.stderr, force=True
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: exit code 0, 1 for a failure, 2 for a mistake of the user's, 130 when interrupted."""
    os.environ["ELMO_DEBUG"] = ""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        result = app(args=given, obj=given, prog_name="elmo", standalone_mode=False)
    except UsageProblem as error:
        message = str(getattr(error, "format_message", error.__str__)())
        if type(error).__name__ == "NoArgsIsHelpError":
            print(message, file=sys.stderr)
            return 2
        return _report(message, code=2)
    except typer.Exit as error:
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _report("interrupted", code=INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said there
        return 1
    except ElmoError as error:
        return _report(str(error), code=error.exit_code)
    except OSError as error:
        return _report(str(error), code=1)
    except Exception as error:
        return _report(f"internal error: {type(error).__name__}: {error} (--debug shows where)", code=1)
    return result if isinstance(result, int) else 0


def _report(message: str, *, code: int) -> int:
    if os.environ.get("ELMO_DEBUG"):
        traceback.print_exc()
    print("elmo: " + " ".join(message.split()), file=sys.stderr)
    return code
