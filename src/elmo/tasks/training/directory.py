"""`TrainedTask`: a task model with all it needs to answer, and the directory it is kept in.

The directory has task.json (recipe, labels, scores, mixes, which biLM), model.safetensors (what was learned), words.txt
and, for word vectors that did not learn, vectors.safetensors. A frozen biLM is not in it but named by its hash; one
that learned too is a model directory inside, `bilm`.
"""

import dataclasses
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from elmo.disk.directories import atomic_directory
from elmo.disk.guarded.plainfiles import read_json, refusing
from elmo.disk.writing import errors_naming
from elmo.errors import WeightsError
from elmo.model.fields import read_fields
from elmo.ops.device import choose_device
from elmo.tasks.details import Details
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordlist import WordTable
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe
from elmo.tasks.task import Batch, Belief, Scores, TaskModel, check_labels
from elmo.tasks.training.batching import ordered_batches
from elmo.tasks.training.dataset import Dataset, autocast
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.limits import MOST_DIM
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)

FORMAT, FORMAT_VERSION = "elmo-task", 1
TASK, WEIGHTS, WORDS, VECTORS = "task.json", "model.safetensors", "words.txt", "vectors.safetensors"
MODEL = "model"  # the folder of a run that holds the finished model
BILM, BILM_PREFIX = "bilm", "embedding.elmo.bilm."
ANSWER_BATCH = 256

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class BiLMReference:
    """Which biLM a task model was trained with: the hash of its numbers, and where it was."""

    sha256: str
    source: str


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The sizes of the word table."""

    known: int
    rest: int
    dim: int

    def __post_init__(self) -> None:
        if min(self.known, self.rest) < 0 or not 1 <= self.dim <= MOST_DIM:
            raise WeightsError(f"words: found {self.known}, {self.rest}, {self.dim}, which are no sizes of a table")


@dataclass(frozen=True, kw_only=True)
class _Saved:
    """What `task.json` must have; the scores beside it are for people."""

    task: str
    labels: list[str]
    words: _Words | None
    bilm: BiLMReference | None
    recipe: Recipe


@dataclass(frozen=True, kw_only=True)
class TrainedTask:
    """A task model ready to answer."""

    name: str
    recipe: Recipe
    labels: list[str]
    model: TaskModel
    bilm: BiLMReference | None = None
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # scores, mixes: for whoever reads task.json

    @property
    def embedding(self) -> TaskEmbedding:
        """The vectors of the tokens."""
        return self.model.embedding

    def predict(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> list[Any]:
        """The answer to each example, in order; None to one that has no tokens."""
        asked = [n for n, example in enumerate(examples) if all(example.texts)]
        answers: list[Any] = [None] * len(examples)
        if asked:
            data = Dataset(self.recipe.make_task(), [examples[n] for n in asked], self.embedding, store=store)
            for n, answer in zip(asked, self.answer(data), strict=True):
                answers[n] = answer
        return answers

    def report(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> list[dict[str, Any]]:
        """Answers with their probabilities and their places in the text, as `elmo task predict --json` writes them."""
        asked = [n for n, example in enumerate(examples) if all(example.texts)]
        beliefs: list[Belief | None] = [None] * len(examples)
        task = self.recipe.make_task()
        if asked:
            data = Dataset(task, [examples[n] for n in asked], self.embedding, store=store)
            for n, belief in zip(asked, self._over(data, self.model.beliefs), strict=True):
                beliefs[n] = belief
        return list(task.report(examples, beliefs, self.labels))

    def evaluate(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> Scores:
        """How good the answers are."""
        return self.recipe.make_task().score(examples, self._answer_known(examples, store))

    def evaluate_details(
        self, examples: Sequence[Example], *, store: LayerStore | None = None
    ) -> tuple[Scores, Details]:
        """The same, and how good they are label by label."""
        task, answers = self.recipe.make_task(), self._answer_known(examples, store)
        return task.score(examples, answers), task.details(examples, answers)

    def answer(self, data: Dataset, *, bf16: bool = False) -> list[Any]:
        """The answers to the examples of a data set, in order."""
        task = self.recipe.make_task()
        return [task.decode(ids, self.labels) for ids in self._over(data, self.model.answers, bf16=bf16)]

    def _answer_known(self, examples: Sequence[Example], store: LayerStore | None) -> list[Any]:
        where = examples[0].place.partition(": line ")[0] if examples else "the examples"
        check_labels(self.recipe.make_task().find_labels(examples), self.labels, where=where)
        return self.predict(examples, store=store)

    @torch.no_grad()
    def _over(self, data: Dataset, ask: Callable[[Batch], list[Found]], *, bf16: bool = False) -> list[Found]:
        """What `ask` finds in the examples of a data set, batch by batch, in the order of the examples."""
        found: dict[int, Found] = {}
        was_training = self.model.training
        if was_training:  # a loaded model is not: threads may share it, and none switches dropout on behind another
            self.model.eval()
        for rows in ordered_batches(data.lengths, batch=ANSWER_BATCH):
            with autocast(self.embedding.device, bf16=bf16):
                found.update(zip(rows.tolist(), ask(data.batch(rows)), strict=True))
        if was_training:
            self.model.train()
        return [found[n] for n in range(len(data))]

    def save(self, directory: Path, *, overwrite: bool = False) -> None:
        """Write the directory, whole or not at all."""
        embedding = self.embedding
        table, words = embedding.table, embedding.words
        whole = atomic_directory(directory, overwrite=overwrite, replaceable=is_trained_task)
        with errors_naming(directory), whole as folder:
            state = self.model.state_dict()
            if embedding.elmo is not None and self.recipe.embedding.elmo.train_bilm:
                write_model(dataclasses.replace(embedding.elmo.model, softmax=None), folder / BILM)
                state = {name: t for name, t in state.items() if not name.startswith(BILM_PREFIX)}
            write_tensors(folder / WEIGHTS, {name: t.cpu() for name, t in state.items()})
            if table is not None and words is not None:
                table.write(folder / WORDS)
                if table.rest:
                    write_tensors(folder / VECTORS, {"rest": words.rest.cpu()})
            values = {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "task": self.name,
                "labels": self.labels,
                "words": None
                if table is None or words is None
                else {"known": len(table.known), "rest": len(table.rest), "dim": words.weight.shape[1]},
                "bilm": None if self.bilm is None else dataclasses.asdict(self.bilm),
                "recipe": self.recipe.to_dict(),
                **self.facts,
            }
            (folder / TASK).write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def build_model(
    recipe: Recipe, labels: Sequence[str], *, table: WordTable | None, word_dim: int, bilm: LoadedModel | None
) -> TaskModel:
    """A new model as a recipe has it, on the CPU."""
    embedding = TaskEmbedding(recipe.embedding, table=table, word_dim=word_dim, model=bilm)
    return recipe.make_task().build(embedding, labels)


def is_trained_task(path: Path) -> bool:
    """Whether a directory is a task model in this format, of any version."""
    try:
        return read_task(path).get("format") == FORMAT
    except WeightsError:
        return False


def find_trained_task(path: Path) -> Path:
    """The directory of a task model: the path itself, or the model in a run's folder."""
    for folder in (path, path / MODEL):
        if (folder / TASK).is_file():
            return folder
    raise WeightsError(f"{path}: is not a trained task; wanted is a directory that `elmo task train` has finished")


def load_trained_task(
    path: str | Path, *, bilm: LoadedModel | str | Path | None = None, device: str | torch.device | None = None
) -> TrainedTask:
    """Read a task model. `bilm` is its biLM, or says where that is, if not where it was in training."""
    folder = find_trained_task(Path(path))
    values = read_task(folder)
    if values.get("format") != FORMAT or values.get("format_version") != FORMAT_VERSION:
        raise WeightsError(
            f"{folder / TASK}: has format {values.get('format')!r} version {values.get('format_version')!r}, but "
            f"{FORMAT!r} version {FORMAT_VERSION} is wanted; update with `pip install --upgrade elmo-embeddings`"
        )
    with refusing(folder / TASK, WeightsError):
        own = {field.name for field in dataclasses.fields(_Saved)}
        known = {name: value for name, value in values.items() if name in own}
        saved = read_fields(_Saved, known, where=str(folder / TASK))
    recipe, labels, reference, words = saved.recipe, saved.labels, saved.bilm, saved.words
    table = None if words is None else WordTable.read(folder / WORDS, known=words.known, rest=words.rest)
    loaded = None
    if reference is not None:
        learned_too = recipe.embedding.elmo.train_bilm
        loaded = read_model(folder / BILM) if learned_too else _find_bilm(reference, bilm, folder=folder)
    model = build_model(recipe, labels, table=table, word_dim=0 if words is None else words.dim, bilm=loaded)
    state = model.state_dict()
    learned = {name: tuple(t.shape) for name, t in state.items() if not name.startswith(BILM_PREFIX)}
    model.load_state_dict({**state, **read_tensors(folder / WEIGHTS, learned)})
    embedding = model.embedding
    if table is not None and table.rest and embedding.words is not None:
        rest = embedding.words.rest
        rest.copy_(read_tensors(folder / VECTORS, {"rest": tuple(rest.shape)})["rest"])
    model.to(choose_device(device)).eval().requires_grad_(False)
    return TrainedTask(name=saved.task, recipe=recipe, labels=labels, model=model, bilm=reference)


def read_task(folder: Path) -> dict[str, Any]:
    """What task.json says: all that a model of this format holds besides its numbers."""
    return read_json(folder / TASK)


def _find_bilm(reference: BiLMReference, given: LoadedModel | str | Path | None, *, folder: Path) -> LoadedModel:
    if isinstance(given, LoadedModel) and given.sha256 == reference.sha256:
        return given
    source = str((given.source if isinstance(given, LoadedModel) else given) or reference.source)
    needed = f"{folder}: needs the biLM with the hash {reference.sha256[:16]}..., in training {reference.source}"
    try:
        loaded = read_model(source)
    except WeightsError as error:
        raise WeightsError(
            f"{needed}; it cannot be read there ({error}). Get that model and say where it is with --model"
        ) from None
    if loaded.sha256 != reference.sha256:
        raise WeightsError(
            f"{needed}; {source} has the hash {loaded.sha256[:16]}... Say with --model where the right one is"
        )
    return loaded


def clone_state(model: TaskModel) -> dict[str, Tensor]:
    """The learned numbers as they are now."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
