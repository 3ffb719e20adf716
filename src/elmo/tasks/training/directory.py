"""A trained task on disk: the directory that `save_trained_task` writes and `load_trained_task` reads.

The directory has task.json (recipe, labels, scores, mixes, which biLM), model.safetensors (what was learned), words.txt
and, for word vectors that did not learn, vectors.safetensors. A frozen biLM is not in it but named by its hash; one
that learned too, or was tuned on the task's sentences, is a model directory inside, `bilm`.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from elmo.disk.directories import atomic_directory
from elmo.disk.guarded.plainfiles import read_json, refusing
from elmo.disk.writing import errors_naming
from elmo.errors import WeightsError
from elmo.model.fields import read_fields
from elmo.ops.device import choose_device
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.recipes import Recipe
from elmo.tasks.training.trained import BiLMReference, TrainedTask, build_model
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.limits import MOST_DIM
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel

FORMAT, FORMAT_VERSION = "elmo-task", 1
TASK, WEIGHTS, WORDS, VECTORS = "task.json", "model.safetensors", "words.txt", "vectors.safetensors"
MODEL = "model"  # the folder of a run that holds the finished model
BILM, BILM_PREFIX = "bilm", "embedding.elmo.bilm."


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The sizes of the list of words and their vectors."""

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
    recipe: dict[str, Any]


def save_trained_task(trained: TrainedTask, directory: Path, *, overwrite: bool = False) -> None:
    """Write the directory, whole or not at all."""
    embedding, reference = trained.embedding, trained.bilm_reference
    word_list, words = embedding.word_list, embedding.words
    whole = atomic_directory(directory, overwrite=overwrite, replaceable=is_trained_task)
    with errors_naming(directory), whole as folder:
        state = trained.model.state_dict()
        learned_too = trained.recipe.embedding.elmo.train_bilm
        if embedding.elmo is not None and (learned_too or (reference is not None and reference.is_tuned)):
            write_model(embedding.elmo.model.replace(softmax=None), folder / BILM)
            state = {name: t for name, t in state.items() if not name.startswith(BILM_PREFIX)}
        write_tensors(folder / WEIGHTS, {name: t.cpu() for name, t in state.items()})
        if word_list is not None and words is not None:
            word_list.write(folder / WORDS)
            if word_list.rest:
                write_tensors(folder / VECTORS, {"rest": words.rest.cpu()})
        values = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "task": trained.name,
            "labels": trained.labels,
            "words": None
            if word_list is None or words is None
            else {"known": len(word_list.known), "rest": len(word_list.rest), "dim": words.weight.shape[1]},
            "bilm": None if reference is None else reference.to_dict(),
            "recipe": trained.recipe.to_dict(),
            **trained.facts,
        }
        (folder / TASK).write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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
    path: str | Path,
    *,
    model: LoadedModel | None = None,
    model_path: str | Path | None = None,
    device: str | torch.device | None = None,
) -> TrainedTask:
    """Read a task model. `model` has its biLM, or `model_path` says where that is, if not where it was in training."""
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
        recipe = Recipe.from_dict(saved.recipe, where=f"{folder / TASK}.recipe")
    labels, reference, words = saved.labels, saved.bilm, saved.words
    word_list = None if words is None else WordList.read(folder / WORDS, known=words.known, rest=words.rest)
    loaded = None
    if reference is not None:
        if recipe.embedding.elmo.train_bilm:
            loaded = read_model(folder / BILM)
        elif reference.is_tuned and (model is None or model.sha256 != reference.sha256):
            loaded = read_model(folder / BILM)
            if loaded.sha256 != reference.sha256:
                raise WeightsError(f"{folder / BILM}: has another hash than {folder / TASK} says; the file is damaged")
        else:
            loaded = _find_model(reference, model, model_path, folder=folder)
    task = recipe.make_task()
    word_dim = 0 if words is None else words.dim
    network = build_model(task, recipe.embedding, labels, word_list=word_list, word_dim=word_dim, model=loaded)
    state = network.state_dict()
    learned = {name: tuple(t.shape) for name, t in state.items() if not name.startswith(BILM_PREFIX)}
    network.load_state_dict({**state, **read_tensors(folder / WEIGHTS, learned)})
    embedding = network.embedding
    if word_list is not None and word_list.rest and embedding.words is not None:
        rest = embedding.words.rest
        rest.copy_(read_tensors(folder / VECTORS, {"rest": tuple(rest.shape)})["rest"])
    network.to(choose_device(device)).eval().requires_grad_(False)
    return TrainedTask(
        name=saved.task, recipe=recipe, task=task, labels=labels, model=network, bilm_reference=reference
    )


def read_task(folder: Path) -> dict[str, Any]:
    """What task.json says: all that a model of this format holds besides its numbers."""
    return read_json(folder / TASK)


def _find_model(
    reference: BiLMReference, given: LoadedModel | None, given_path: str | Path | None, *, folder: Path
) -> LoadedModel:
    if given is not None and given.sha256 == reference.sha256:
        return given
    source = str(given_path or (given and given.source) or reference.source)
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
