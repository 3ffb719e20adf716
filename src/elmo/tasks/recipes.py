"""`Recipe`: a task with all its options in one value; `RECIPES`, the ones that have a name, the list of all tasks."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from elmo.disk.guarded.plainfiles import refusing
from elmo.disk.guarded.tomlfiles import parse_toml, read_toml
from elmo.errors import ConfigError
from elmo.model.fields import in_present_names, read_fields
from elmo.tasks.classification.task import ClassificationConfig
from elmo.tasks.coreference.task import CoreferenceConfig
from elmo.tasks.embedding.config import CharactersConfig, ElmoConfig, EmbeddingConfig, WordsConfig
from elmo.tasks.entailment.task import EntailmentConfig
from elmo.tasks.questions.task import QuestionsConfig
from elmo.tasks.roles.task import RolesConfig
from elmo.tasks.tagging.task import TaggingConfig
from elmo.tasks.task import Task, TaskConfig
from elmo.tasks.training.config import TaskTrainConfig


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What to learn, from what, and how."""

    task: TaskConfig
    embedding: EmbeddingConfig
    train: TaskTrainConfig

    def make_task(self) -> Task:
        """The task that the options describe."""
        return self.task.make()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "recipe") -> "Recipe":
        """From a mapping; anything unknown or wrong fails with its place."""
        tables = read_fields(_Tables, values, where=where)
        task = _read_task(tables.task, where=f"{where}.task")
        return cls(task=task, embedding=tables.embedding, train=tables.train)

    def to_dict(self) -> dict[str, Any]:
        """A mapping that `from_dict` reads back."""
        return asdict(self)

    def changed(self, changes: Mapping[str, Any]) -> "Recipe":
        """The same with some options changed: {"train.learning_rate": 0.01, "embedding.characters": None}."""
        values = self.to_dict()
        for name, value in changes.items():
            *folders, last = name.split(".")
            table = values
            owner: object = self
            for folder in folders:
                owner = getattr(owner, folder, None)
                inner = table.setdefault(folder, {})
                if inner is None:
                    inner = table[folder] = {}
                if not isinstance(inner, dict):
                    raise ConfigError(f"{name}: {folder!r} is a value, not a table of options")
                table = inner
            table |= {last: value} if owner is None else in_present_names(type(owner), {last: value})
        return Recipe.from_dict(values)


@dataclass(frozen=True, kw_only=True)
class _Tables:
    """A recipe in a file; which options `task` may have, its `kind` says."""

    task: dict[str, Any]
    embedding: EmbeddingConfig
    train: TaskTrainConfig


# Sizes and rates of the literature: Peters et al. 2018 (appendix) and AllenNLP's configurations of its models. ELMo has
# no dropout of its own here, since the models' acts on all that they read. AllenNLP's lambda of 0.1 for names stands
# beside a loss summed over 64 sentences; beside a mean it is about 0.001.
_CHUNKS = Recipe(
    task=TaggingConfig(),
    embedding=EmbeddingConfig(elmo=ElmoConfig(dropout=0.0, mix_l2=0.001)),
    train=TaskTrainConfig(epochs=20, batch_size=32, learning_rate=1e-3, patience=10),
)
# A task is named here, and in `names.py` for the command line. [tests/apps/cli/test_cli_task.py]
RECIPES: dict[str, Recipe] = {
    "ner": _CHUNKS,
    "chunk": _CHUNKS,
    "pos": replace(_CHUNKS, task=TaggingConfig(chunks=False)),
    "classification": Recipe(
        task=ClassificationConfig(),
        # The vectors learn, other than in AllenNLP's configuration: 100 dimensions know little of sentiment, and every
        # word of the trees has a label to learn it from. [Tai et al. 2015: 49.7 fixed, 51.0 tuned]
        embedding=EmbeddingConfig(elmo=ElmoConfig(dropout=0.0, mix_l2=0.001), characters=None),
        # The search on dev. [docs/results.md]
        train=TaskTrainConfig(epochs=5, batch_size=128, learning_rate=5e-4, patience=None),
    ),
    "entailment": Recipe(
        task=EntailmentConfig(),
        embedding=EmbeddingConfig(elmo=ElmoConfig(dropout=0.0, mix_l2=0.001)),
        train=TaskTrainConfig(epochs=15, batch_size=32, learning_rate=4e-4, clip=10.0, patience=5),
    ),
    # Adam with a decaying rate, not document-qa's Adadelta and averaged weights: scores do not need them. [naver/claf]
    "questions": Recipe(
        task=QuestionsConfig(),
        embedding=EmbeddingConfig(
            elmo=ElmoConfig(dropout=0.5, mix_l2=0.001),
            words=WordsConfig(train=False),
            characters=CharactersConfig(dim=20, filters=100, width=5),
        ),
        train=TaskTrainConfig(epochs=15, batch_size=32, learning_rate=1e-3, patience=5),
    ),
    # He et al. 2018 and luheng/lsgn: layers with highways between, dropouts 0.4 and 0.5, Adam at 0.001. An example of a
    # batch is one predicate.
    "roles": Recipe(
        task=RolesConfig(),
        embedding=EmbeddingConfig(elmo=ElmoConfig(dropout=0.0, mix_l2=0.001)),
        train=TaskTrainConfig(epochs=20, batch_size=64, learning_rate=1e-3, patience=8),
    ),
    # Lee et al. 2018: a document a step, Adam at 0.001, gradients clipped at 5, no lambda.
    "coreference": Recipe(
        task=CoreferenceConfig(),
        embedding=EmbeddingConfig(elmo=ElmoConfig(dropout=0.0, mix_l2=0.0)),
        train=TaskTrainConfig(epochs=30, batch_size=1, learning_rate=1e-3, patience=10),
    ),
}


def _read_task(values: Mapping[str, Any], *, where: str) -> TaskConfig:
    """The options of a task by their `kind`; without one those of the first recipe are meant."""
    kinds = {recipe.task.kind: type(recipe.task) for recipe in RECIPES.values()}
    kind = values.get("kind", next(iter(kinds)))
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{where}.kind: found {kind!r:.80}, but one of {', '.join(map(repr, kinds))} is wanted")
    return read_fields(kinds[kind], values, where=where)


def find_recipe(name: str) -> Recipe:
    """A recipe by its name."""
    if name not in RECIPES:
        raise ConfigError(f"there is no task {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]


def changed_by_file(recipe: Recipe, path: Path) -> Recipe:
    """A recipe with the options of a TOML file."""
    with refusing(path, ConfigError):
        return recipe.changed(dict(_dotted(read_toml(path))))


def parse_change(text: str) -> tuple[str, Any]:
    """`train.learning_rate=0.01` as name and value; the value is TOML's, or `none`, or else the text itself."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"an option is {text!r}; NAME=VALUE is wanted, such as train.learning_rate=0.001")
    if value.strip().lower() == "none":
        return name.strip(), None
    try:
        return name.strip(), parse_toml(f"value = {value}", where=name)["value"]
    except ConfigError:
        return name.strip(), value.strip()


def _dotted(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        found += _dotted(value, f"{prefix}{name}.") if isinstance(value, Mapping) else [(prefix + name, value)]
    return found
