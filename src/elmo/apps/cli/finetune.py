"""`elmo finetune`: go on training a model on text of a domain."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.common import tell_progress
from elmo.apps.cli.output import perplexity_line, say
from elmo.apps.cli.reading import is_store, read_language_model
from elmo.apps.cli.resuming import NOTHING_GAINED, command_again, end_unfinished
from elmo.errors import InputError


def finetune(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="Text files, directories, -, or one corpus store.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run; the model comes in its folder `model`.")],
    model: options.Model = None,
    tokenized: options.Tokenized = False,
    lines: options.LinesOption = "auto",
    epochs: Annotated[float | None, typer.Option("--epochs", help="Passes over the text, at most.")] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Steps, instead of epochs.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Rows of a step, for each direction.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML or JSON file instead of our recipe.")] = None,
    vocabulary_size: Annotated[
        int | None,
        typer.Option(
            "--vocabulary-size",
            help="Entries of the domain's vocabulary, at most; those that the model lacks are added.",
        ),
    ] = None,
    softmax: options.SoftmaxFile = None,
    general_text: Annotated[
        list[str] | None,
        typer.Option(
            "--general-text",
            help="For a model without a softmax: text like that which it was trained on, to learn one on first; may be "
            "given again. Or one corpus store.",
        ),
    ] = None,
    softmax_only: Annotated[
        bool, typer.Option("--softmax-only", help="Leave the biLM as it is and write only a softmax for it.")
    ] = False,
    heldout: Annotated[float, typer.Option("--heldout", help="The share of the text to hold out.")] = 0.05,
    device: options.Device = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Minutes; then save and stop, to go on with --resume.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
) -> None:
    """Fine-tune a model on a domain, stop when held-out text no longer gains, and say what it brought.

    The model keeps its softmax, with the domain's new words added. One without (any from HDF5) takes that of a file
    (--softmax), or learns one first, on general text (--general-text) or on the domain; --softmax-only stops there and
    writes it to OUTPUT/softmax.safetensors. If held-out text is not predicted better than before, the biLM stays as it
    was, and the exit status is 3.

    Example: elmo finetune abstracts.txt -o tuned --model my-model
    """
    from elmo.corpus.build import build_corpus
    from elmo.corpus.store import CorpusStore
    from elmo.pretrain.config import TrainConfig
    from elmo.pretrain.finetuning import finetune as tune
    from elmo.pretrain.softmax import train_softmax

    tell_progress("elmo.pretrain")
    start = read_language_model(model, softmax)
    if general_text and start.has_softmax:
        raise typer.BadParameter(f"{start.source} has a softmax; leave out --general-text, which is to learn one on")
    if general_text and softmax_only:
        raise typer.BadParameter("--softmax-only learns a softmax on the text itself; leave out --general-text")
    if start.softmax is None:
        where = "the general text" if general_text else "the text"
        say(f"{start.source} has no softmax; one is trained on {where} first (--softmax takes one from a file)")

    def build(inputs: list[str], name: str, entries: int | None) -> CorpusStore:
        if len(inputs) == 1 and is_store(inputs[0]):
            return CorpusStore.open(inputs[0])
        output.mkdir(parents=True, exist_ok=True)
        place, was_there = output / name, is_store(str(output / name))
        built = build_corpus(
            inputs,
            place,
            tokenizer=None if tokenized else start.tokenizer,
            tokenized=tokenized,
            lines=lines,
            vocabulary_size=entries,
            heldout=heldout,
            resume=resume or was_there,  # what a refused text has left is of no use to the next one
        )
        if name == "corpus" and not softmax_only and not len(built.heldout_symbols):
            if not was_there:
                shutil.rmtree(place)
            count = built.counts["train"].sentences
            raise InputError(
                f"{', '.join(inputs)}: of {count:,} {'sentence' if count == 1 else 'sentences'} none is held out, and "
                "without held-out text nobody sees what a fine-tuning brings; give more text, or a larger share "
                "(--heldout)"
            )
        return built

    store = build(text, "corpus", vocabulary_size)
    general = build(general_text, "general-corpus", None) if general_text else None
    changes = {"epochs": epochs, "steps": steps, "batch_size": batch_size}
    given = {name: value for name, value in changes.items() if value is not None}
    recipe = TrainConfig.recipe("softmax")
    if softmax_only:
        built = train_softmax(
            start,
            store,
            output,
            config=(TrainConfig.read(config) if config is not None else recipe).replace(**given),
            resume=resume,
            device=device,
            time_limit=None if time_limit is None else 60 * time_limit,
        )
        if built.file is None:
            say(f"{built.status}; go on with: {command_again(context.obj.arguments)}")
            end_unfinished(built.status)
            return
        if built.perplexity is not None:
            say(f"held-out perplexity: {perplexity_line(built.perplexity)}")
        say(f"the softmax is {built.file}")
        return
    chosen = TrainConfig.read(config) if config is not None else TrainConfig.recipe("finetune")
    result = tune(
        start,
        store,
        output,
        config=chosen.replace(**given),
        softmax_config=recipe.replace(**given),
        general=general,
        resume=resume,
        device=device,
        time_limit=None if time_limit is None else 60 * time_limit,
    )
    if result.vocabulary is not None:
        added = f", {result.new_words:,} of them new words of the text" if result.new_words else ""
        say(f"vocabulary: {result.vocabulary:,}{added}")
    if result.before is not None:
        say(f"held-out perplexity before: {perplexity_line(result.before)}")
    if not result.done:
        say(f"{result.status}; go on with: {command_again(context.obj.arguments)}")
        end_unfinished(result.status)
        return
    if result.after is not None:
        say(f"held-out perplexity after:  {perplexity_line(result.after)}")
    if not result.gained:
        say("held-out text is not predicted better than before: the biLM is left as it was")
    say(f"the model is {result.model}, and in bilm-tf's format {result.hdf5}")
    if not result.gained:
        raise typer.Exit(NOTHING_GAINED)
