"""`elmo task train | evaluate | predict`: task models on the user's own files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elmo.apps.cli import options
from elmo.apps.cli.common import tell_progress
from elmo.apps.cli.details import detail_lines
from elmo.apps.cli.resuming import command_again, end_unfinished
from elmo.errors import ConfigError
from elmo.tasks.embedding.choices import TaskLayers, Where
from elmo.tasks.names import TaskName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elmo.embed.module import Elmo
    from elmo.tasks.embedding.layercache import LayerStore
    from elmo.tasks.training.trained import BiLMReference

TEST_SCORES = "test.json"  # in the folder of a run
TUNED = "tuned"  # the folder of tuned biLMs, in that or in the cache


Cache = Annotated[
    Path | None, typer.Option("--cache", help="A folder that keeps the biLM's layers for other runs on the same texts.")
]
CacheLimit = Annotated[
    float,
    typer.Option("--cache-limit", min=0, help="GB of that folder; when it is full, layers used longest ago go first."),
]
CACHE_GB = 64.0
TaskModel = Annotated[Path, typer.Argument(help="A directory made by `elmo task train`.")]
ModelPath = Annotated[
    str | None, typer.Option("--model", "-m", help="The biLM, if it is not where it was in training any more.")
]


def train(
    context: typer.Context,
    name: Annotated[TaskName, typer.Argument(help="The task.")],
    train_file: Annotated[str, typer.Option("--train", help="Examples to learn from.")],
    dev_file: Annotated[str, typer.Option("--dev", help="Examples that say when to stop.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run; the model comes in its folder `model`.")],
    model: options.Model = None,
    test_file: Annotated[str | None, typer.Option("--test", help="Examples to score the finished model on.")] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Static word vectors: GloVe's text format, or .npz.")
    ] = None,
    where: Annotated[
        Where | None,
        typer.Option("--elmo", help="Where ELMo is added: input if not given; none: the baseline, without biLM."),
    ] = None,
    tune_bilm: Annotated[
        bool,
        typer.Option(
            "--tune-bilm",
            help="First fine-tune the biLM on the sentences of --train, and keep it in --cache for other runs.",
        ),
    ] = False,
    layers: Annotated[TaskLayers | None, typer.Option("--layers", help="All layers mixed, or the top one.")] = None,
    label_column: Annotated[
        int | None, typer.Option("--label-column", help="Of column files: from 1, or from -1 at the end.")
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="Passes over the examples, at most.")] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Examples of a step.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", "--rate", help="How large Adam's steps are.")
    ] = None,
    fraction: Annotated[float | None, typer.Option("--fraction", help="The share of the examples to use.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of weights, order, dropout and fraction.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file of options.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="One option, as task.model.hidden=100; may be given again.")
    ] = None,
    cache: Cache = None,
    cache_limit: CacheLimit = CACHE_GB,
    device: options.Device = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Minutes; then save and stop, to go on with --resume.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
) -> None:
    """Train a task model with ELMo, or without it as a baseline. Ctrl-C saves and stops; --resume goes on there.

    Example: elmo task train ner --train train.txt --dev dev.txt --vectors glove.txt -o run
    """
    from elmo.disk.writing import write_file
    from elmo.tasks.embedding.wordvectors import read_word_vectors
    from elmo.tasks.recipes import changed_by_file, find_recipe, parse_change
    from elmo.tasks.training.trainer import train_task
    from elmo.weights.formats import read_model
    from elmo.weights.published.packaged import DEFAULT

    if tune_bilm:
        tell_progress("elmo.pretrain", "elmo.tasks.training.tuning")  # minutes, before the first epoch
    recipe = find_recipe(name)
    if config is not None:
        recipe = changed_by_file(recipe, config)
    changes: dict[str, Any] = {}
    given = {
        "embedding.elmo.where": where,
        "embedding.elmo.layers": layers,
        "task.label_column": label_column,
        "train.epochs": epochs,
        "train.batch_size": batch_size,
        "train.learning_rate": learning_rate,
        "train.fraction": fraction,
        "train.seed": seed,
    }
    changes |= {key: value for key, value in given.items() if value is not None}
    changes |= dict(map(parse_change, settings or []))
    recipe = recipe.changed(changes)
    task = recipe.make_task()
    store = _store(cache, cache_limit)
    test = None if test_file is None else task.read(test_file)
    result = train_task(
        name,
        recipe,
        task.read(train_file),
        task.read(dev_file),
        output,
        model=None if recipe.embedding.elmo.where == "none" else read_model(model or DEFAULT),
        vectors=None if vectors is None else read_word_vectors(vectors),
        resume=resume,
        device=device,
        store=store,
        time_limit=None if time_limit is None else 60 * time_limit,
        tuned=(cache or output) / TUNED if tune_bilm else None,
    )
    if result.trained is None:
        typer.echo(f"{result.status} after {result.epochs} epochs; go on with: {command_again(context.obj.arguments)}")
        end_unfinished(result.status)
        return
    typer.echo(f"{result.status} after {result.epochs} epochs; the best was epoch {result.best_epoch}")
    for line in tuning_lines(result.trained.bilm_reference):
        typer.echo(line)
    typer.echo(f"dev: {score_line(result.scores)}")
    if test is not None:
        scores = result.trained.evaluate(test, store=store)
        write_file(
            result.run / TEST_SCORES, (json.dumps({"file": test_file, **scores}, indent=1) + "\n").encode("utf-8")
        )
        typer.echo(f"test: {score_line(scores)}")
    for line in mix_lines(result.trained.embedding.mix_weights()):
        typer.echo(line)
    typer.echo(f"the model is {result.run / 'model'}")


def evaluate(
    directory: TaskModel,
    test: Annotated[str, typer.Argument(help="Examples with their answers.")],
    model: ModelPath = None,
    cache: Cache = None,
    cache_limit: CacheLimit = CACHE_GB,
    device: options.Device = None,
    as_json: Annotated[bool, typer.Option("--json", help="All scores as JSON.")] = False,
) -> None:
    """Score a trained task model on a file: as a whole, label by label, and which labels are taken for which.

    Example: elmo task evaluate run test.txt
    """
    from elmo.tasks.training.directory import load_trained_task

    trained = load_trained_task(directory, model_path=model, device=device)
    examples = trained.task.read(test)
    scores, details = trained.evaluate_details(examples, store=_store(cache, cache_limit))
    if as_json:
        typer.echo(json.dumps({**scores, **details.to_dict()}, ensure_ascii=False))
        return
    typer.echo(score_line(scores))
    for line in detail_lines(details):
        typer.echo(line)


def predict(
    directory: TaskModel,
    source: Annotated[str, typer.Argument(help="A file like those of training, without answers if so wanted; or -.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The file to write; - for standard output.")] = "-",
    text: Annotated[bool, typer.Option("--text", help="Lines are raw text, or two with a tab between.")] = False,
    questions: Annotated[
        list[str] | None, typer.Option("--question", help="A question about the whole text; may be given again.")
    ] = None,
    most_answers: Annotated[
        int, typer.Option("--answers", "-n", min=1, max=20, help="To a question, with --question or --json.")
    ] = 1,
    no_split: options.NoSplitSentences = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line: answers, probabilities, places in the text.")
    ] = False,
    as_html: Annotated[
        bool, typer.Option("--html", help="One HTML file with names, roles or chains marked in colours.")
    ] = False,
    model: ModelPath = None,
    device: options.Device = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Answer with a trained task model: tags, labels of texts or pairs, answers to questions, roles, chains.

    With --text a tagger reads the sentences of a line one by one; a blank line follows the tags of each line. Pairs are
    lines of `premise<TAB>hypothesis`. Questions are named by --question; a line is an answer, its probability, and
    where it starts and ends. For coreference the whole file is one document.

    Example: elmo task predict run sentences.txt --text -o tagged.txt

    Example: elmo task predict run --text article.txt --question "Who won?" -n 3
    """
    from elmo.disk.writing import write_file
    from elmo.tasks.training.directory import load_trained_task
    from elmo.text.lines import refuse_output_in_source
    from elmo.text.tokenizer import Tokenizer

    if as_json and as_html:
        raise ConfigError("--json and --html are both given; one of them says what is written")
    if output != "-":
        refuse_output_in_source(source, output)
        options.refuse_existing(Path(output), overwrite=overwrite)
    trained = load_trained_task(directory, model_path=model, device=device)
    elmo = trained.embedding.elmo
    tokenizer = Tokenizer() if elmo is None else elmo.model.tokenizer
    if no_split:
        tokenizer = replace(tokenizer, language=None)
    if questions:
        examples = trained.task.ask(source, questions)
    else:
        examples = trained.task.read_questions(source, tokenizer if text else None)
    if as_html:
        from elmo.tasks.htmlpage import html_page

        trained.task.marked_texts(())  # refuses now, and not after all is answered
        marked_texts = trained.task.marked_texts(trained.report(examples))
        title = trained.name if source == "-" else Path(source).name
        found = ["".join(html_page(title, marked_texts, language=tokenizer.language or "und"))]
    elif as_json or questions:
        found = list(_told(trained.report(examples), as_json=as_json, most=most_answers))
    else:
        found = list(trained.task.write(examples, trained.predict(examples)))
    lines = "".join(f"{line}\n" for line in found)
    if output == "-":
        typer.echo(lines, nl=False)
    else:
        write_file(output, lines.encode("utf-8"))


def wsd(
    train_file: Annotated[
        Path, typer.Option("--train", help="NAME.data.xml, its NAME.gold.key.txt beside it: SemCor.")
    ],
    tests: Annotated[list[Path], typer.Argument(help="Test sets, in the same format.")],
    index_sense: Annotated[Path, typer.Option("--index-sense", help="WordNet's index.sense, for the first senses.")],
    model: options.Model = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A folder for the answers.")] = None,
    device: options.Device = None,
) -> None:
    """Tell word senses apart by the nearest sense average, for each layer; nothing is trained.

    Example: elmo task wsd --train semcor.data.xml --index-sense index.sense --model my-model senseval2.data.xml
    """
    from elmo.tasks.wsd.evaluate import evaluate_senses

    found = evaluate_senses(_elmo(model, device), train_file, tests, index_sense, output=output)
    layers = "  ".join(f"layer {n}" for n in range(len(found[0].layers)))
    typer.echo(f"{'F1':20}  instances  first sense  {layers}     mean")
    for scores in found:
        numbers = "  ".join(f"{value:7.2f}" for value in [*scores.layers, scores.mean])
        typer.echo(f"{scores.name:20}  {scores.instances:9,}  {scores.first:11.2f}  {numbers}")


def probe(
    train_file: Annotated[str, typer.Option("--train", help="A column file or CoNLL-U, to learn from.")],
    dev_file: Annotated[str, typer.Option("--dev", help="The same, to choose the best epoch by.")],
    test_file: Annotated[str | None, typer.Option("--test", help="The same, to score on.")] = None,
    model: options.Model = None,
    label_column: Annotated[
        int | None, typer.Option("--label-column", help="From 1, or from -1 at the end; XPOS of CoNLL-U.")
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the tokens.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the order of the tokens.")] = 1,
    cache: Cache = None,
    cache_limit: CacheLimit = CACHE_GB,
    device: options.Device = None,
) -> None:
    """Train a linear classifier of tags on each layer alone: what does the layer know?

    Example: elmo task probe --train train.conllu --dev dev.conllu --test test.conllu --model my-model
    """
    from elmo.tasks.probe.linear import ProbeConfig, probe_layers
    from elmo.tasks.tagging.task import Tagging, TaggingConfig

    reader = Tagging(TaggingConfig(chunks=False, label_column=label_column))
    result = probe_layers(
        _elmo(model, device),
        reader.read(train_file),
        reader.read(dev_file),
        None if test_file is None else reader.read(test_file),
        config=ProbeConfig(epochs=epochs, seed=seed),
        store=_store(cache, cache_limit),
    )
    for layer, accuracy in enumerate(result.dev):
        test = "" if result.test is None else f", test {result.test[layer]:.2f}"
        typer.echo(f"layer {layer}: dev accuracy {accuracy:.2f}{test}")


def _told(objects: "Iterable[dict[str, Any]]", *, as_json: bool, most: int) -> "Iterator[str]":
    """Objects as JSON, or the answers in them as lines with an empty one after those to each question but the last."""
    for n, values in enumerate(objects):
        if "answers" in values:
            values = {**values, "answers": values["answers"][:most]}
        if as_json:
            yield json.dumps(values, ensure_ascii=False)
            continue
        if n:
            yield ""
        for answer in values["answers"]:
            words = " ".join(answer["text"].split())
            yield f"{words}\t{answer['probability']:.4f}\t{answer['start']}\t{answer['end']}"


def score_line(scores: dict[str, float]) -> str:
    """Scores in one line, in per cent."""
    return ", ".join(f"{name} {value:.2f}" for name, value in scores.items())


def tuning_lines(reference: "BiLMReference | None") -> list[str]:
    """What fine-tuning the biLM brought, if it was done."""
    tuning = None if reference is None else reference.tuning
    if tuning is None:
        return []
    left = "" if tuning.gained else "; it is left as it was"
    line = (
        f"biLM: held-out perplexity of {tuning.sentences:,} training sentences {tuning.before:.2f} before, "
        f"{tuning.after:.2f} after fine-tuning ({tuning.outside:.2%} out of vocabulary){left}"
    )
    return [line]


def mix_lines(mixes: dict[str, Any]) -> list[str]:
    """What each mix has learned."""
    return [
        f"mix at the {where}: layers {' '.join(f'{weight:.3f}' for weight in mix['layers'])}, gamma {mix['gamma']:.3f}"
        for where, mix in mixes.items()
    ]


def _elmo(model: str | None, device: str | None) -> "Elmo":
    from elmo.embed.module import Elmo
    from elmo.ops.device import choose_device

    return Elmo.from_pretrained(model).to(choose_device(device)).eval()


def _store(folder: Path | None, gigabytes: float) -> "LayerStore":
    from elmo.tasks.embedding.layercache import CacheConfig, LayerStore

    return LayerStore(CacheConfig(folder=folder, disk=int(1e9 * gigabytes)))
