"""`elmo pretrain`: train a biLM on a corpus store."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.common import tell_progress
from elmo.apps.cli.output import perplexity_line, say
from elmo.apps.cli.resuming import command_again, end_unfinished
from elmo.pretrain.choices import Size, StartingRecipe


def pretrain(
    context: typer.Context,
    corpus: Annotated[Path, typer.Argument(help="A corpus store made by `elmo corpus build`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run: checkpoints, metrics, and the model.")],
    size: Annotated[
        Size | None, typer.Option("--size", help="The size of the model; for the device if not given.")
    ] = None,
    recipe: Annotated[
        StartingRecipe | None, typer.Option("--recipe", help="Our recipe (modern, the default), or the paper's.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML or JSON file instead of a recipe.")] = None,
    start_from: Annotated[
        str | None,
        typer.Option(
            "--start-from",
            help="A trained model (directory, run, or name) to begin with: its weights and softmax, a new schedule.",
        ),
    ] = None,
    softmax: options.SoftmaxFile = None,
    epochs: Annotated[
        float | None, typer.Option("--epochs", help="Passes over the text; for the text and the device if not given.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Steps, instead of epochs.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Rows of a step, for each direction.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of weights, order, dropout and negatives.")] = None,
    device: options.Device = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", min=0, help="Minutes; then save and stop, to go on with --resume.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the newest checkpoint, with its options where none are given."),
    ] = False,
) -> None:
    """Train a biLM. Ctrl-C saves and stops; --resume goes on exactly there. With several GPUs: torchrun.

    With --start-from the corpus must be built with the model's tokenizer and vocabulary.

    Example: elmo pretrain corpus -o run --size small --epochs 3
    """
    from elmo.pretrain.checkpoint import list_checkpoints
    from elmo.pretrain.config import TrainConfig
    from elmo.pretrain.pretraining import pretrain as train

    changes = {
        name: value
        for name, value in {
            "size": size,
            "epochs": epochs,
            "steps": steps,
            "batch_size": batch_size,
            "seed": seed,
        }.items()
        if value is not None
    }
    if config is not None and recipe is not None:
        raise typer.BadParameter("--config and --recipe both say how to train; give one of them")
    if steps is not None and epochs is not None:
        raise typer.BadParameter("--steps and --epochs both say how long; give one of them")
    saved = list_checkpoints(output) if resume else []
    if config is not None:
        chosen = TrainConfig.read(config)
    elif saved and recipe is None:
        chosen = saved[-1].config
    else:
        chosen = TrainConfig.recipe(recipe or "modern")
    if resume and not saved:
        say(f"{output}: holds no checkpoint yet; the run starts at the beginning")
    tell_progress("elmo.pretrain")
    result = train(
        corpus,
        chosen.replace(**changes),
        output,
        resume=resume,
        start_from=start_from,
        softmax=softmax,
        device=device,
        time_limit=None if time_limit is None else 60 * time_limit,
    )
    if result.model is None:
        say(f"{result.status} at step {result.step:,} of {result.steps:,}; saved in {result.checkpoint}")
        say(f"go on with: {command_again(context.obj.arguments)}")
        end_unfinished(result.status)
        return
    say(f"{result.status} at step {result.step:,}; the model is {result.model}")
    if result.perplexity is not None:
        say(f"held-out perplexity {perplexity_line(result.perplexity)}")
