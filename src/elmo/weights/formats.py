"""Any model on disk: which format a path holds, reading it, writing it. The door that everything else uses."""

import contextlib
import dataclasses
import logging
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError

from elmo.disk.cachefolder import cache_directory
from elmo.disk.directories import recover
from elmo.disk.guarded.archives import is_archive
from elmo.disk.guarded.plainfiles import exists, one_line
from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.bilmtf.files import find_checkpoint, is_checkpoint, read_checkpoint, write_checkpoint
from elmo.weights.choices import Storage
from elmo.weights.foreign import foreign_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.manylangs import is_manylangs, read_manylangs
from elmo.weights.native import is_native, read_native, write_native
from elmo.weights.published.addresses import Published, fetch_published, find_published, require_published
from elmo.weights.published.packaged import DEFAULT, locate_packaged, packaged_directory
from elmo.weights.zipped import detect_zip, read_zip

logger = logging.getLogger(__name__)

Format = Literal["native", "bilm-tf", "manylangs", "nlpl-zip", "manylangs-zip"]
MODEL = "model"  # in the directory of a run
WRITABLE: tuple[Format, ...] = ("native", "bilm-tf")


def detect(path: Path) -> Format:
    """The format of what lies at `path`, from its name and its small files; no weights are read."""
    recover(path)
    if not exists(path):
        raise WeightsError(f"{str(path)[:200]}: there is no such file or directory")
    if path.is_dir():
        if is_native(path):
            return "native"
        if is_checkpoint(path):
            return "bilm-tf"
        if is_manylangs(path):
            return "manylangs"
        raise WeightsError(
            f"{path}: {foreign_model(path) or 'is not a model directory'}; wanted is an ELMo of this program "
            "(config.json with model.safetensors), options.json with weights.hdf5, or ELMoForManyLangs' config.json "
            "with encoder.pkl"
        )
    if path.suffix in (".hdf5", ".h5"):
        return "bilm-tf"
    if is_archive(path):
        return detect_zip(path)
    raise WeightsError(
        f"{path}: {foreign_model(path) or 'is not a model'}; wanted is a model directory, an .hdf5 file with its "
        "options.json beside it, or a zip archive of NLPL's repository"
    )


def read_model(
    source: str | Path,
    *,
    options: Path | None = None,
    embedding: Path | None = None,
    vocabulary: Path | Vocabulary | None = None,
    tokenizer: Tokenizer | None = None,
    dtype: torch.dtype | None = torch.float32,
    settle: bool = True,
    finite: bool = True,
    offline: bool = False,
) -> LoadedModel:
    """Read a model in any format, into CPU memory: a path, or the name of the packaged model or of a published one.

    `options`, `embedding` (word vectors that lie apart) and `vocabulary` belong to bilm-tf's format, and are looked for
    beside the weights where they are not given. `tokenizer` replaces the one recorded, or the one supposed for formats
    that record none. `settle=False` leaves a missing settled state at zero, `finite=False` skips the search for NaN.
    Published models are fetched on first use; `offline=True` never asks the network.
    """
    path, published = _locate(source, offline=offline)
    found = detect(path)
    if found != "bilm-tf" and (options or embedding or vocabulary):
        raise WeightsError(f"{path}: is a {found} model; options, embedding and vocabulary are for bilm-tf's format")
    if found == "native":
        model = read_native(path, dtype=dtype, finite=finite)
    elif found == "manylangs":
        model = read_manylangs(path, dtype=dtype or torch.float32, finite=finite)
    elif found in ("nlpl-zip", "manylangs-zip"):
        model = read_zip(path, dtype=dtype or torch.float32, finite=finite)
    else:
        files = find_checkpoint(path, options=options, embedding=embedding, vocabulary=vocabulary)
        model = read_checkpoint(files, dtype=dtype or torch.float32, finite=finite)
    if published is not None:
        model = dataclasses.replace(model, tokenizer=published.tokenizer)
    if tokenizer is not None:
        model = dataclasses.replace(model, tokenizer=tokenizer)
    if settle and not model.is_settled:
        logger.info("%s: settled after %d tokens", path, model.settle())
    return model


def portable_name(source: str | None) -> str:
    """How another machine finds a model that was read here: the name of a packaged or published one, or the path."""
    if source is None:
        return "a model in memory"
    path = Path(source).resolve()
    if path == packaged_directory().resolve():
        return DEFAULT
    cache = cache_directory().resolve()
    if path.is_relative_to(cache) and path != cache:
        name = path.relative_to(cache).parts[0]
        if find_published(name) is not None:
            return name
    return str(path) if path.exists() else source


def _locate(source: str | Path, *, offline: bool) -> tuple[Path, Published | None]:
    """The packaged model by its name; else a path that exists is a path, and what looks like a name is one."""
    path = Path(source)
    if source == DEFAULT:
        if exists(path):
            logger.warning("%s is the packaged model; for what lies here under that name, write ./%s", source, source)
        return locate_packaged(), None
    with contextlib.suppress(RuntimeError):  # a home that nobody has
        path = path.expanduser()
    recover(path)
    if exists(path / MODEL) and not any(is_model(path) for is_model in (is_native, is_checkpoint, is_manylangs)):
        return path / MODEL, None  # the directory of a run
    if isinstance(source, Path) or exists(path) or path.name != source or path.suffix in (".hdf5", ".zip"):
        return path, None
    published = require_published(source)
    return fetch_published(published, offline=offline), published


def write_model(
    model: LoadedModel,
    path: str | Path,
    *,
    format: Format = "native",  # noqa: A002 - the word users know it by
    storage: Storage = "float32",
    card: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a model directory, whole or not at all. A format that cannot hold the model refuses."""
    try:
        if format == "native":
            write_native(model, Path(path), storage=storage, card=card, overwrite=overwrite)
        elif format == "bilm-tf":
            if storage != "float32":
                raise WeightsError(f"storage is {storage!r}, but bilm-tf's format holds float32 only")
            write_checkpoint(model, Path(path), overwrite=overwrite)
        else:
            raise WeightsError(f"format is {format!r}, but one of {', '.join(WRITABLE)} can be written")
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"{path}: cannot be written ({one_line(error)})") from None
