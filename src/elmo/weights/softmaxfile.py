"""A softmax apart from its biLM: one safetensors file with its vocabulary, in eight or four bits.

The softmax is about half of a language model and no part of an embedder, so models can be shipped without it, or with
it in a file `softmax.safetensors` of their directory that is read when it is asked for. The file holds
`softmax.weight` (int8, a scale a row) or `softmax.weight4` (`fourbits`, a scale a group), or both: the first rows in
eight bits and the others in four; `softmax.bias`, the words as UTF-8 lines, and the hashes of the biLMs it belongs to:
the one it was trained with, and the same one as it was stored.
"""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo.disk.guarded.plainfiles import file_sha256, member, one_line, shortened
from elmo.disk.writing import atomic_path
from elmo.errors import VocabularyError, WeightsError
from elmo.text.vocabulary import MOST_VOCABULARY_BYTES, MOST_WORDS, Vocabulary
from elmo.weights.choices import SoftmaxStorage
from elmo.weights.fourbits import dequantize4, quantize4
from elmo.weights.guarded.arrayfile import (
    FLOATS,
    ArrayInfo,
    Numbers,
    from_bfloat16,
    read_header,
    read_stored,
    write_arrays,
)
from elmo.weights.loaded import LoadedModel
from elmo.weights.quantized import dequantize, quantize, scale_shape
from elmo.weights.softmax import SoftmaxApart, SoftmaxArrays, StoredSoftmax
from elmo.weights.tensors import SCALE, check_finite

logger = logging.getLogger(__name__)

SOFTMAX = "softmax.safetensors"  # in a model directory
WEIGHT, WEIGHT4, BIAS, WORDS, BILMS = "softmax.weight", "softmax.weight4", "softmax.bias", "vocabulary", "bilms"
HASH_BYTES = 32
# Of a softmax in four bits one row in ten, those of the most frequent words, has eight: an error there touches nearly
# every probability. All in four bits cost 3.8 % of the perplexity, this 0.2 % (`recipes.english.softmax_bits`).
FREQUENT = 10


class ReadSoftmax(NamedTuple):
    """What a file holds."""

    softmax: SoftmaxArrays
    vocabulary: Vocabulary
    bilms: frozenset[str]  # hashes of those it was made for


def write_softmax(
    model: LoadedModel, path: Path, *, bilms: Collection[str] = (), storage: SoftmaxStorage = "int8"
) -> None:
    """Write a model's softmax and vocabulary, whole or not at all; `bilms` are further hashes it belongs to."""
    softmax = model.softmax_arrays
    if softmax is None or model.vocabulary is None:
        missing = "softmax" if softmax is None else "vocabulary"
        raise WeightsError(f"{model.source or 'model'}: has no {missing}, so there is none to write")
    weight, bias = (array.astype(np.float32, copy=False) for array in softmax)
    check_finite({WEIGHT: weight, BIAS: bias}, where=model.source or "model")
    tensors = {
        **(_in_four_bits(weight) if storage == "int4" else _in_eight_bits(weight)),
        BIAS: bias,
        WORDS: _text("".join(word + "\n" for word in model.vocabulary.words).encode("utf-8")),
        BILMS: _hashes({model.sha256, *bilms}),
    }
    _write(path, tensors)


def copy_softmax(source: Path, target: Path, *, bilms: Collection[str]) -> None:
    """The same softmax in another place, for further biLMs."""
    tensors = read_stored(source, {name: info.shape for name, info in read_header(source).items()})
    if BILMS not in tensors:
        raise _no_softmax(source)
    _write(target, {**tensors, BILMS: _hashes({*_read_hashes(tensors[BILMS]), *bilms})})


def add_softmax(model: LoadedModel, path: Path) -> LoadedModel:
    """The model with the softmax and the vocabulary of a file; one made for another biLM is taken with a warning."""
    read = read_softmax(path, size=model.config.lstm.output_dim)
    _warn_of_another(path, read, model)
    return model.replace(softmax=StoredSoftmax.of(read.softmax), vocabulary=read.vocabulary)


def find_apart(directory: Path, recorded: Any) -> SoftmaxApart | None:
    """The softmax that lies in a model directory, unread; `recorded` is what config.json says of it."""
    if not (directory / SOFTMAX).is_file():
        return None
    sha256 = recorded.get("sha256") if isinstance(recorded, Mapping) else None
    return SoftmaxApart(
        path=member(directory, SOFTMAX), sha256=None if sha256 is None else str(sha256), read=_read_apart
    )


def _read_apart(apart: SoftmaxApart, model: LoadedModel) -> SoftmaxArrays:
    found = None if apart.sha256 is None else file_sha256(apart.path)
    if found != apart.sha256:
        raise WeightsError(
            f"{apart.path}: sha256 is {found}, but config.json says {str(apart.sha256)[:64]}; the file is damaged, or "
            "of another model"
        )
    read = read_softmax(apart.path, size=model.config.lstm.output_dim)
    if model.vocabulary is not None and model.vocabulary.words != read.vocabulary.words:
        raise WeightsError(f"{apart.path}: its {len(read.vocabulary):,} words are not those of the model's vocabulary")
    _warn_of_another(apart.path, read, model)
    return read.softmax


def softmax_storage(path: Path) -> str:
    """The kind of a file: int4 where most rows have four bits."""
    header = read_header(path)
    return "int4" if WEIGHT4 in header else "int8" if WEIGHT in header else "no softmax"


def read_softmax(path: Path, *, size: int) -> ReadSoftmax:
    """Read a file whose vectors must have `size` numbers."""
    header = read_header(path)
    shapes = _shapes(path, header, size=size)
    V = shapes[BIAS][0]
    tensors = read_stored(path, shapes)
    parts = []
    if WEIGHT in tensors:
        parts.append(dequantize(tensors[WEIGHT], _floats(tensors[WEIGHT + SCALE])))
    if WEIGHT4 in tensors:
        parts.append(dequantize4(tensors[WEIGHT4], _floats(tensors[WEIGHT4 + SCALE])))
    weight, bias = parts[0] if len(parts) == 1 else np.concatenate(parts), _floats(tensors[BIAS])
    check_finite({WEIGHT: weight, BIAS: bias}, where=str(path))
    vocabulary = _read_words(tensors[WORDS].tobytes(), where=str(path))
    if len(vocabulary) != V:
        raise WeightsError(f"{path}: has {len(vocabulary):,} words, but {V:,} are wanted, one for each row")
    return ReadSoftmax(SoftmaxArrays(weight, bias), vocabulary, _read_hashes(tensors[BILMS]))


def _shapes(path: Path, header: Mapping[str, ArrayInfo], *, size: int) -> dict[str, tuple[int, ...]]:
    """The shapes that the tensors of a file must have, by those of its weights."""
    weights = {name: header[name] for name in (WEIGHT, WEIGHT4) if name in header}
    if not weights or any(len(info.shape) != 2 for info in weights.values()) or not {WORDS, BILMS} <= header.keys():
        raise _no_softmax(path)
    V = sum(info.shape[0] for info in weights.values())
    widths = {info.shape[1] * (2 if name == WEIGHT4 else 1) for name, info in weights.items()}
    if widths != {size} or not 3 <= V <= MOST_WORDS:
        D = " and ".join(map(str, sorted(widths)))
        raise WeightsError(f"{path}: is for {V:,} words and vectors of {D}, but the model's have {size}")
    kinds = {WEIGHT: "I8", WEIGHT4: "U8", WORDS: "U8", BILMS: "U8"}
    if any(header[name].dtype != kind for name, kind in kinds.items() if name in header):
        raise WeightsError(f"{path}: its tensors are of other types than a softmax file has")
    texts = {name: header[name].shape for name in (WORDS, BILMS)}
    if len(texts[WORDS]) != 1 or texts[WORDS][0] > MOST_VOCABULARY_BYTES or texts[BILMS][1:] != (HASH_BYTES,):
        raise WeightsError(f"{path}: its vocabulary or its hashes have shapes {shortened(texts)}")
    shapes = {name: info.shape for name, info in weights.items()}
    if WEIGHT in weights:
        shapes[WEIGHT + SCALE] = (weights[WEIGHT].shape[0], 1)
    if WEIGHT4 in weights:
        scale = header.get(WEIGHT4 + SCALE)
        groups = scale.shape[-1] if scale is not None and scale.shape else 0
        if scale is None or scale.dtype not in FLOATS or groups < 1 or size % groups:
            raise WeightsError(f"{path}: {WEIGHT4 + SCALE}: is not a table of scales for groups of {size} numbers")
        shapes[WEIGHT4 + SCALE] = (weights[WEIGHT4].shape[0], groups)
    return {**shapes, BIAS: (V,), **texts}


def _in_eight_bits(weight: Numbers) -> dict[str, Numbers]:
    shape = scale_shape(WEIGHT, weight.shape)
    assert shape is not None
    numbers, scale = quantize(weight, shape)
    return {WEIGHT: numbers, WEIGHT + SCALE: scale}


def _in_four_bits(weight: Numbers) -> dict[str, Numbers]:
    first = len(weight) // FREQUENT
    packed, scale = quantize4(weight[first:])
    return {**(_in_eight_bits(weight[:first]) if first else {}), WEIGHT4: packed, WEIGHT4 + SCALE: scale}


def _write(path: Path, tensors: Mapping[str, Numbers]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        write_arrays(temporary, tensors)


def _warn_of_another(path: Path, read: ReadSoftmax, model: LoadedModel) -> None:
    if model.sha256 not in read.bilms:
        logger.warning("%s: was made for another biLM, so its probabilities may be poor", path)


def _no_softmax(path: Path) -> WeightsError:
    return WeightsError(f"{path}: is not a softmax file; `elmo convert MODEL OUT --softmax-to FILE` writes one")


def _read_words(content: bytes, *, where: str) -> Vocabulary:
    try:
        return Vocabulary(tuple(content.decode("utf-8").split("\n")[:-1]))
    except (UnicodeDecodeError, VocabularyError) as error:
        raise WeightsError(f"{where}: its vocabulary cannot be read ({one_line(error)})") from None


def _read_hashes(rows: Numbers) -> frozenset[str]:
    return frozenset(bytes(row).hex() for row in rows.tolist())


def _hashes(hashes: Collection[str]) -> Numbers:
    return _text(bytes.fromhex("".join(sorted(hashes)))).reshape(-1, HASH_BYTES)


def _text(content: bytes) -> Numbers:
    return np.frombuffer(content, np.uint8)


def _floats(array: Numbers) -> Numbers:
    return from_bfloat16(array) if array.dtype == np.uint16 else array.astype(np.float32, copy=False)
