"""What several runs read: examples, word vectors, the biLM and their hashes, kept by the process and those it forks."""

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo.disk.guarded.plainfiles import file_sha256
from elmo.reproduce.jobs import QUICK, AnyJob, Hashes, ProbeJob, SenseJob, Sources, TaskJob
from elmo.tasks.embedding.wordvectors import WordVectors, read_word_vectors
from elmo.tasks.examples import Example
from elmo.tasks.recipes import find_recipe, parse_change
from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel

if TYPE_CHECKING:
    from elmo.reproduce.settings import AnyData

FEWEST = 3  # examples that a file is cut to


def hashes_of(data: "AnyData", sources: Sources) -> Hashes:
    """What the sources of a data set hold."""
    return Hashes(
        files={path: _file_hash(sources.data / path) for path in data.paths.values()},
        model=load_model(sources.model).sha256,
        vectors=_vectors_hash(sources.vectors),
    )


def read_for(job: AnyJob, sources: Sources) -> None:
    """Read all that a run needs, to be there for its process and for others that are forked."""
    if isinstance(job, TaskJob):
        for name in job.files:
            load_examples(job, name, sources)
        load_vectors(sources.vectors)
    elif isinstance(job, ProbeJob):
        for path in job.files.values():
            load_tags(sources.data / path)
    load_model(sources.model)


def load_examples(job: TaskJob, name: str, sources: Sources) -> list[Example]:
    """The examples of one of its files."""
    # Those of the network change nothing in what is read.
    of_task = (o for o in job.options if o.startswith("task.") and not o.startswith("task.model."))
    examples = _examples(job.data.task, str(sources.data / job.files[name]), tuple(of_task))
    if job.quick and name != "train":
        return examples[: max(FEWEST, math.ceil(QUICK * len(examples)))]
    return examples


@cache
def load_tags(path: Path) -> list[Example]:
    """Tagged sentences for a probe."""
    return list(Tagging(TaggingConfig(chunks=False)).read(str(path)))


def load_senses(job: SenseJob, sources: Sources) -> dict[str, Any]:
    """The paths of a word sense evaluation, as `evaluate_senses` takes them."""
    folder, data = sources.data, job.data
    return {
        "train": folder / data.train,
        "tests": [folder / path for path in data.tests],
        "index_sense": folder / data.index,
    }


@cache
def load_model(name: str) -> LoadedModel:
    """A biLM."""
    return read_model(name)


@cache
def load_vectors(path: Path | None) -> WordVectors | None:
    """Static word vectors."""
    return None if path is None else read_word_vectors(path)


@cache
def _vectors_hash(path: Path | None) -> str | None:
    vectors = load_vectors(path)
    return None if vectors is None else vectors.sha256()


@cache
def _file_hash(path: Path) -> str:
    return file_sha256(path)


@cache
def _examples(task: str, path: str, options: tuple[str, ...]) -> list[Example]:
    return find_recipe(task).changed(dict(map(parse_change, options))).make_task().read(path)
