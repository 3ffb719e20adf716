"""Any model on disk: which format a path holds, reading it, writing it. The door that everything else uses."""

import contextlib
import logging
from pathlib import Path
from typing import NamedTuple

from elmo.disk.cachefolder import cache_directory
from elmo.disk.directories import recover
from elmo.disk.guarded.plainfiles import exists, one_line
from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.bilmtf.files import BILM_TF
from elmo.weights.choices import SoftmaxStorage, Storage, Writable
from elmo.weights.foreign import foreign_model
from elmo.weights.format import Format, Read, ReadOptions, WriteOptions
from elmo.weights.loaded import LoadedModel
from elmo.weights.manylangs import MANYLANGS
from elmo.weights.native import NATIVE, native_reader
from elmo.weights.published.addresses import fetch_published, find_published, require_published
from elmo.weights.published.hub import PREFIX, fetch_from_hub, hub_name
from elmo.weights.published.packaged import DEFAULT, find_packaged, packaged_directory
from elmo.weights.zipped import MANYLANGS_ZIP, NLPL_ZIP

logger = logging.getLogger(__name__)

MODEL = "model"  # in the directory of a run

# A format is one line here and one file; of those that fit a path the first is taken.
FORMATS = (NATIVE, BILM_TF, MANYLANGS, NLPL_ZIP, MANYLANGS_ZIP)


class FoundModel(NamedTuple):
    """A model on this machine whose weights are not read yet."""

    path: Path
    format: Format
    read: Read
    tokenizer: Tokenizer | None = None  # of a published model, whose files do not say


def find_model(source: str | Path, *, offline: bool = False) -> FoundModel:
    """Where a model lies and in which format, from names and small files; a published one is fetched on first use.

    The packaged model by its name; one of the Hub by `hf:user/name`; else a path that exists is a path, and what looks
    like a name is one.
    """
    path = Path(source)
    if source == DEFAULT:
        if exists(path):
            logger.warning("%s is the packaged model; for what lies here under that name, write ./%s", source, source)
        directory, config = find_packaged()
        return FoundModel(directory, NATIVE, native_reader(directory, config))
    if isinstance(source, str) and source.startswith(PREFIX):
        return find_in(fetch_from_hub(source, offline=offline))
    with contextlib.suppress(RuntimeError):  # a home that nobody has
        path = path.expanduser()
    recover(path)
    if exists(path / MODEL):
        return _look(path) or find_in(path / MODEL)  # a model with a folder of that name, or the directory of a run
    if isinstance(source, Path) or exists(path) or path.name != source or path.suffix in (".hdf5", ".zip"):
        return find_in(path)
    published = require_published(source)
    return find_in(fetch_published(published, offline=offline))._replace(tokenizer=published.tokenizer)


def find_in(path: Path) -> FoundModel:
    """The model that lies at `path`, in whichever format."""
    recover(path)
    if not exists(path):
        raise WeightsError(f"{str(path)[:200]}: there is no such file or directory")
    found = _look(path)
    if found is not None:
        return found
    if path.is_dir():
        fault, wanted = "is not a model directory", [known.directory for known in FORMATS if known.directory]
    else:
        fault, wanted = "is not a model", ["a model directory", *(known.file for known in FORMATS if known.file)]
    raise WeightsError(f"{path}: {foreign_model(path) or fault}; wanted is {', '.join(wanted[:-1])}, or {wanted[-1]}")


def _look(path: Path) -> FoundModel | None:
    for known in FORMATS:
        read = known.find(path)
        if read is not None:
            return FoundModel(path, known, read)
    return None


def read_model(
    source: str | Path | FoundModel,
    *,
    options: Path | None = None,
    embedding: Path | None = None,
    vocabulary: Path | Vocabulary | None = None,
    tokenizer: Tokenizer | None = None,
    settle: bool = True,
    finite: bool = True,
    offline: bool = False,
) -> LoadedModel:
    """Read a model in any format, into CPU memory: a path, or the name of the packaged model or of a published one.

    `options`, `embedding` (word vectors that lie apart) and `vocabulary` belong to bilm-tf's format, and are looked for
    beside the weights where they are not given. `tokenizer` replaces the one recorded, or the one supposed for formats
    that record none. `settle=False` leaves a missing settled state at zero, `finite=False` skips the search for NaN.
    Published models are fetched on first use; `offline=True` never asks the network. What `find_model` has found is not
    looked for again.
    """
    found = source if isinstance(source, FoundModel) else find_model(source, offline=offline)
    if not found.format.takes_files and (options or embedding or vocabulary):
        raise WeightsError(
            f"{found.path}: is a {found.format.name} model; options, embedding and vocabulary are for bilm-tf's format"
        )
    model = found.read(ReadOptions(finite=finite, options=options, embedding=embedding, vocabulary=vocabulary))
    if tokenizer or found.tokenizer:
        model = model.replace(tokenizer=tokenizer or found.tokenizer)
    if settle and not model.is_settled:
        logger.info("%s: settled after %d tokens", found.path, model.settle())
    return model


def portable_name(source: str | None) -> str:
    """How another machine finds a model that was read here: the name of a packaged, published or Hub's, or the path."""
    if source is None:
        return "a model in memory"
    path = Path(source).resolve()
    if path == packaged_directory().resolve():
        return DEFAULT
    if (name_on_hub := hub_name(path)) is not None:
        return name_on_hub
    cache = cache_directory().resolve()
    if path.is_relative_to(cache) and path != cache:
        name = path.relative_to(cache).parts[0]
        if find_published(name) is not None:
            return name
    return str(path) if path.exists() else source


def write_model(
    model: LoadedModel,
    path: str | Path,
    *,
    format: Writable = "native",  # noqa: A002 - the word users know it by
    storage: Storage = "float32",
    card: str | None = None,
    overwrite: bool = False,
    softmax: SoftmaxStorage | None = None,
) -> None:
    """Write a model directory, whole or not at all. A format that cannot hold the model refuses.

    `softmax` (native) puts the softmax into a file of its own in the directory, which is read only when asked for.
    """
    writers = {known.name: known.write for known in FORMATS if known.write is not None}
    if format not in writers:
        raise WeightsError(f"format is {format!r}, but one of {', '.join(writers)} can be written")
    try:
        writers[format](
            model, Path(path), WriteOptions(storage=storage, card=card, overwrite=overwrite, softmax=softmax)
        )
    except OSError as error:
        raise WeightsError(f"{path}: cannot be written ({one_line(error)})") from None
