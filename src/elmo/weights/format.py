"""What a format of models on disk is. Each is described in the file that reads it; `formats` has the list."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from elmo.text.vocabulary import Vocabulary
from elmo.weights.choices import SoftmaxStorage, Storage
from elmo.weights.loaded import LoadedModel


class ReadOptions(NamedTuple):
    """How a model is to be read; `read_model` says what each means."""

    finite: bool = True
    options: Path | None = None  # this and the next two: for a format that `takes_files`
    embedding: Path | None = None
    vocabulary: Path | Vocabulary | None = None


class WriteOptions(NamedTuple):
    """How a model is to be written."""

    storage: Storage = "float32"
    card: str | None = None
    overwrite: bool = False
    softmax: SoftmaxStorage | None = None


Read = Callable[[ReadOptions], LoadedModel]
Write = Callable[[LoadedModel, Path, WriteOptions], None]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format by its name, which stands here alone.

    `find` says from names and small files whether a path holds such a model, and gives what reads it: what it has
    looked into need not be read again. No weights are read by it.
    """

    name: str
    find: Callable[[Path], Read | None]
    write: Write | None = None
    directory: str | None = None  # what such a directory has, and what such a file is, for who has given another
    file: str | None = None
    takes_files: bool = False  # whether options, embedding and vocabulary can be named apart
