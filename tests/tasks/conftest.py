"""A tiny biLM, the samples, and recipes small enough for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.tiny import make_bilm

from elmo.tasks.questions.answer import AnswerPiece
from elmo.tasks.recipes import Recipe, find_recipe
from elmo.tasks.roles.propositions import Roles
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel

SAMPLES = Path(__file__).parent / "samples"

SMALL: dict[str, Any] = {
    "embedding.words.dim": 12,
    "embedding.characters": {"dim": 6, "filters": 12, "width": 3},
    "train.batch_size": 4,
    "train.learning_rate": 0.02,
    "train.schedule": "constant",
    "train.patience": None,
}
TAGGER = {"task.model.hidden": 12, "task.model.layers": 1, "task.model.dropout": 0.0, "embedding.elmo.dropout": 0.0}
CLASSIFIER = {
    "task.model.hidden": 12,
    "task.model.embedding_dropout": 0.0,
    "task.model.encoder_dropout": 0.0,
    "task.model.integrator_dropout": 0.0,
    "task.model.maxout": (16,),
    "task.model.maxout_dropout": (0.0,),
}
PAIRS = {"task.model.hidden": 12, "task.model.dropout": 0.0}
QUESTIONS = {"task.model.hidden": 12, "task.model.dropout": 0.0, "embedding.elmo.dropout": 0.0}
ROLES = {
    "task.model.hidden": 16,
    "task.model.layers": 2,
    "task.model.dropout": 0.0,
    "task.model.embedding_dropout": 0.0,
    "task.model.mark": 4,
    "task.model.finder": 32,
}
COREFERENCE = {
    "task.model.hidden": 16,
    "task.model.layers": 2,
    "task.model.dropout": 0.0,
    "task.model.embedding_dropout": 0.0,
    "task.model.unit_dropout": 0.0,
    "task.model.units": 16,
    "task.model.feature": 4,
    "task.model.width": 6,
    "task.model.kept": 1.0,
    "train.batch_size": 2,
    "train.learning_rate": 0.01,
}


def all_wrong(answer: Any) -> Any:
    """An answer in the place of another in which nothing is right."""
    return ("O",) * len(answer) if isinstance(answer, tuple) else "?"


class Sample(NamedTuple):
    """A task with files of its own."""

    task: str
    train: Path
    dev: Path
    changes: dict[str, Any]
    broken: str  # a line that is none
    broken_line: int
    wrong: Callable[[Any], Any] = all_wrong
    needs: str | None = None  # a library that an extra brings


SAMPLES_OF_TASKS = {
    "ner": Sample("ner", SAMPLES / "ner-train.txt", SAMPLES / "ner-dev.txt", TAGGER, "Lisbon NNP I-NP X-LOC\n", 1),
    "chunk": Sample(
        "chunk",
        SAMPLES / "ner-train.txt",
        SAMPLES / "ner-dev.txt",
        {**TAGGER, "task.label_column": 3},
        "a DT I-NP O\nb DT I-NP\n",
        2,
    ),
    "pos": Sample("pos", SAMPLES / "pos-train.conllu", SAMPLES / "pos-dev.conllu", TAGGER, "1\tword\tNN\n", 1),
    "classification": Sample(
        "classification",
        SAMPLES / "sentiment-train.trees",
        SAMPLES / "sentiment-dev.trees",
        {**CLASSIFIER, "task.subphrases": False},
        "(2 (2 one) (2 two))\n(2 (2 The) (2 end)\n",
        2,
    ),
    "roles": Sample(
        "roles",
        SAMPLES / "roles-train.txt",
        SAMPLES / "roles-dev.txt",
        ROLES,
        "Tom\tNNP\t-\t(ARG0*)\nfell\tVBD\tfall.01\tV*\n",
        2,
        lambda _: Roles((), ()),
    ),
    "coreference": Sample(
        "coreference",
        SAMPLES / "coreference-train.conll",
        SAMPLES / "coreference-dev.conll",
        COREFERENCE,
        "#begin document (b); part 000\nb 0 0 It - - - - - - * (1\n#end document\n",
        2,
        lambda _: (),
        "scipy",
    ),
    "classification of lines": Sample(
        "classification", SAMPLES / "reviews-train.tsv", SAMPLES / "reviews-dev.tsv", CLASSIFIER, "good\tyes\nbad\n", 2
    ),
    "entailment": Sample(
        "entailment", SAMPLES / "pairs-train.jsonl", SAMPLES / "pairs-dev.tsv", PAIRS, '{"gold_label": "neutral"}\n', 1
    ),
    "questions": Sample(
        "questions",
        SAMPLES / "questions-train.json",
        SAMPLES / "questions-dev.json",
        QUESTIONS,
        '{"data": []}\n',
        1,
        lambda _: AnswerPiece("?", 0, 1),
    ),
}


def small_recipe(sample: Sample, **changes: Any) -> Recipe:
    dotted = {name.replace("__", "."): value for name, value in changes.items()}
    return find_recipe(sample.task).changed({**SMALL, **sample.changes, **dotted})


@pytest.fixture(autouse=True)
def _extra_of_the_sample(request: pytest.FixtureRequest) -> None:
    sample = request.node.callspec.params.get("sample") if hasattr(request.node, "callspec") else None
    if isinstance(sample, Sample) and sample.needs is not None:
        pytest.importorskip(sample.needs, reason=f"needs {sample.needs}, which an extra brings (make test has it)")


@pytest.fixture(scope="session")
def model_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny"
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), path)
    return path


@pytest.fixture
def model(model_directory: Path) -> LoadedModel:
    return read_model(str(model_directory))
