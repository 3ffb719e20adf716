"""A bilm-tf / AllenNLP checkpoint as files: finding what belongs together, reading it into a model, writing one."""

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo.disk.directories import atomic_directory
from elmo.disk.guarded.plainfiles import member, one_line, read_json
from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary, read_vocabulary
from elmo.weights.arrays import BiLMArrays
from elmo.weights.bilmtf import layout
from elmo.weights.format import Format, Read, ReadOptions, WriteOptions
from elmo.weights.loaded import LoadedModel
from elmo.weights.tensors import check_finite

logger = logging.getLogger(__name__)

WEIGHTS, OPTIONS, VOCABULARY = "weights.hdf5", "options.json", "vocab.txt"
# The published models are English and their text was split so. What was trained otherwise says so with `tokenizer=`.
TOKENIZER = Tokenizer(rule="treebank")
SAME_STATE = 1e-3  # of a settled state: no more than rounding


class BilmTfFiles(NamedTuple):
    """The files of one checkpoint."""

    weights: Path
    options: Path
    embedding: Path | None  # word vectors that lie apart
    vocabulary: Path | Vocabulary | None


def is_bilmtf(directory: Path) -> bool:
    """Whether a directory holds an options file and a weights file under the names that are in use."""
    return bool(_weights_in(directory)) and bool(_options_in(directory))


def find_bilmtf(
    path: Path,
    *,
    options: Path | None = None,
    embedding: Path | None = None,
    vocabulary: Path | Vocabulary | None = None,
) -> BilmTfFiles:
    """The files that belong to a directory or to an .hdf5 file. Several candidates are an error, not a guess."""
    if path.is_dir():
        weights = _only(path, _weights_in(path), wanted=WEIGHTS)
        directory = path
    else:
        weights, directory = path, path.parent
    if options is None:
        beside = directory / weights.with_suffix(".json").name.replace("weights", "options")
        if "weights" in weights.name and beside.is_file():
            options = member(directory, beside.name)
        else:
            options = _only(directory, _options_in(directory), wanted=OPTIONS)
    return BilmTfFiles(weights, options, embedding, vocabulary)


def read_bilmtf(files: BilmTfFiles, *, finite: bool = True) -> LoadedModel:
    """The model, without a settled state."""
    options = read_json(files.options)
    words: int | None = None
    if files.embedding is not None or "char_cnn" not in options:
        words = layout.vocabulary_size(files.embedding or files.weights, options=files.options)
    config = layout.config_from_options(options, words=words, where=str(files.options))
    vocabulary = files.vocabulary
    if vocabulary is None and words is not None:
        directory = files.weights.parent
        vocabulary = _only(directory, _vocabularies_in(directory), wanted=VOCABULARY)
    if isinstance(vocabulary, Path):
        vocabulary = read_vocabulary(vocabulary)
    if words is not None and vocabulary is not None and len(vocabulary) != words:
        raise WeightsError(
            f"{files.embedding or files.weights}: embedding: found {words:,} rows, but the vocabulary has "
            f"{len(vocabulary):,} words and each wants one"
        )
    tensors = layout.read_weights(files.weights, config, embedding=files.embedding)
    if finite:
        check_finite(tensors, where=str(files.weights))
    return LoadedModel(
        bilm=BiLMArrays.of(config, tensors),
        tokenizer=TOKENIZER,
        vocabulary=vocabulary,
        format=BILM_TF.name,
        source=str(files.weights),
    )


def write_bilmtf(model: LoadedModel, directory: Path, *, overwrite: bool = False) -> None:
    """Write `options.json` and `weights.hdf5` (and `vocab.txt` for a model that reads words) into a new directory."""
    options = layout.options_from_config(model.config)
    for warning in _losses(model):
        logger.warning("%s: %s", directory, warning)
    with atomic_directory(directory, overwrite=overwrite, replaceable=is_bilmtf) as temporary:
        layout.write_weights(temporary / WEIGHTS, model.config, model.tensors)
        (temporary / OPTIONS).write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
        if model.config.tokens.reads_words and model.vocabulary is not None:
            model.vocabulary.write(temporary / VOCABULARY)


def _losses(model: LoadedModel) -> list[str]:
    """What the format drops, and who cannot load the result."""
    losses = {
        "the settled state is not written; readers compute it anew, and its vectors will differ a little": (
            model.is_settled and not _settles_as_stored(model)
        ),
        "the softmax is not written; bilm-tf's format has no place for it": model.has_softmax,
        "the original code cannot run a model of one direction": model.config.lstm.directions == 1,
        f"the tokenizer rule {model.tokenizer.rule!r} is not written; readers suppose {TOKENIZER.rule!r}, so give them "
        "tokens (--tokenized), or keep the native model for raw text": model.tokenizer != TOKENIZER,
    }
    return [text for text, lost in losses.items() if lost] + layout.refused_by_allennlp(model.config)


def _weights_in(directory: Path) -> list[str]:
    names = _names(directory, lambda name: name.endswith((".hdf5", ".h5")))
    for certain in (WEIGHTS, "model.hdf5"):
        if certain in names:
            return [certain]
    return [name for name in names if "weights" in name]


def _options_in(directory: Path) -> list[str]:
    names = _names(directory, lambda name: name.endswith(".json") and "options" in name)
    return [OPTIONS] if OPTIONS in names else names


def _vocabularies_in(directory: Path) -> list[str]:
    names = _names(directory, lambda name: name.endswith(".txt") and "vocab" in name)
    return [VOCABULARY] if VOCABULARY in names else names


def _names(directory: Path, wanted: Callable[[str], bool]) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if wanted(entry.name))
    except OSError as error:
        raise WeightsError(f"{directory}: cannot be listed ({one_line(error)})") from None


def _only(directory: Path, names: list[str], *, wanted: str) -> Path:
    if not names:
        raise WeightsError(f"{directory.resolve()}: {wanted} is missing; put it there, or name it where it is")
    if len(names) > 1:
        raise WeightsError(f"{directory}: several files could be {wanted}: {', '.join(names[:5])}; name the one to use")
    return member(directory, names[0])


def _settles_as_stored(model: LoadedModel) -> bool:
    """Whether the weights as they are lead to the settled state that is stored; rounding after it was made may not."""
    arrays = model.arrays
    anew = model.replace(bilm=arrays)
    anew.settle()
    return np.allclose(anew.arrays.settled.h, arrays.settled.h, rtol=0, atol=SAME_STATE)


def _find(path: Path) -> Read | None:
    found = is_bilmtf(path) if path.is_dir() else path.suffix in (".hdf5", ".h5")
    if not found:
        return None

    def read(asked: ReadOptions) -> LoadedModel:
        files = find_bilmtf(path, options=asked.options, embedding=asked.embedding, vocabulary=asked.vocabulary)
        return read_bilmtf(files, finite=asked.finite)

    return read


def _write(model: LoadedModel, directory: Path, asked: WriteOptions) -> None:
    if asked.storage != "float32":
        raise WeightsError(f"storage is {asked.storage!r}, but bilm-tf's format holds float32 only")
    write_bilmtf(model, directory, overwrite=asked.overwrite)


BILM_TF = Format(
    name="bilm-tf",
    find=_find,
    write=_write,
    directory="options.json with weights.hdf5",
    file="an .hdf5 file with its options.json beside it",
    takes_files=True,
)
