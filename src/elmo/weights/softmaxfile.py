"""A softmax apart from its biLM: one safetensors file with its vocabulary, in eight bits a row.

The softmax is about half of a language model and no part of an embedder, so models can be shipped without it. The file
holds `softmax.weight` (int8) with its scales, `softmax.bias`, the words as UTF-8 lines, and the hashes of the biLMs it
belongs to: the one it was trained with, and the same one as it was stored.
"""

import dataclasses
import logging
from collections.abc import Collection
from pathlib import Path

import torch

from elmo.disk.guarded.plainfiles import one_line, shortened
from elmo.disk.writing import atomic_path
from elmo.errors import VocabularyError, WeightsError
from elmo.text.vocabulary import MOST_VOCABULARY_BYTES, MOST_WORDS, Vocabulary
from elmo.weights.guarded.tensorfile import read_header, read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel, Softmax
from elmo.weights.quantized import SCALE, dequantize, quantize, scale_shape
from elmo.weights.tensors import check_finite

logger = logging.getLogger(__name__)

WEIGHT, BIAS, WORDS, BILMS = "softmax.weight", "softmax.bias", "vocabulary", "bilms"
HASH_BYTES = 32


def write_softmax(model: LoadedModel, path: Path, *, bilms: Collection[str] = ()) -> None:
    """Write a model's softmax and vocabulary, whole or not at all; `bilms` are further hashes it belongs to."""
    if model.softmax is None or model.vocabulary is None:
        missing = "softmax" if model.softmax is None else "vocabulary"
        raise WeightsError(f"{model.source or 'model'}: has no {missing}, so there is none to write")
    weight, bias = (tensor.detach().cpu().float() for tensor in model.softmax)
    check_finite({WEIGHT: weight, BIAS: bias}, where=model.source or "model")
    shape = scale_shape(WEIGHT, tuple(weight.shape))
    assert shape is not None
    numbers, scale = quantize(weight, shape)
    hashes = sorted({model.sha256, *bilms})
    tensors = {
        WEIGHT: numbers,
        WEIGHT + SCALE: scale,
        BIAS: bias,
        WORDS: _text("".join(word + "\n" for word in model.vocabulary.words).encode("utf-8")),
        BILMS: _text(bytes.fromhex("".join(hashes))).view(-1, HASH_BYTES),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        write_tensors(temporary, tensors)


def add_softmax(model: LoadedModel, path: Path) -> LoadedModel:
    """The model with the softmax and the vocabulary of a file; one made for another biLM is taken with a warning."""
    header = read_header(path)
    if WEIGHT not in header or len(header[WEIGHT].shape) != 2 or WORDS not in header or BILMS not in header:
        raise WeightsError(f"{path}: is not a softmax file; `elmo convert MODEL OUT --softmax-to FILE` writes one")
    V, D = header[WEIGHT].shape
    if model.config.lstm.output_dim != D or not 3 <= V <= MOST_WORDS:
        raise WeightsError(
            f"{path}: is for {V:,} words and vectors of {D}, but the model's have {model.config.lstm.output_dim}"
        )
    if header[WEIGHT].dtype is not torch.int8 or any(header[n].dtype is not torch.uint8 for n in (WORDS, BILMS)):
        raise WeightsError(f"{path}: its tensors are of other types than a softmax file has")
    texts = {name: header[name].shape for name in (WORDS, BILMS)}
    if len(texts[WORDS]) != 1 or texts[WORDS][0] > MOST_VOCABULARY_BYTES or texts[BILMS][1:] != (HASH_BYTES,):
        raise WeightsError(f"{path}: its vocabulary or its hashes have shapes {shortened(texts)}")
    tensors = read_tensors(path, {WEIGHT: (V, D), WEIGHT + SCALE: (V, 1), BIAS: (V,), **texts})
    bias = tensors[BIAS].float()
    weight = dequantize(tensors[WEIGHT], tensors[WEIGHT + SCALE])
    check_finite({WEIGHT: weight, BIAS: bias}, where=str(path))
    if model.sha256 not in {bytes(row.tolist()).hex() for row in tensors[BILMS]}:
        logger.warning("%s: was made for another biLM, so its probabilities may be poor", path)
    softmax, vocabulary = Softmax(weight, bias), _read_words(tensors[WORDS].numpy().tobytes(), where=str(path))
    if len(vocabulary) != V:
        raise WeightsError(f"{path}: has {len(vocabulary):,} words, but {V:,} are wanted, one for each row")
    return dataclasses.replace(model, softmax=softmax, vocabulary=vocabulary)


def _read_words(content: bytes, *, where: str) -> Vocabulary:
    try:
        return Vocabulary(tuple(content.decode("utf-8").split("\n")[:-1]))
    except (UnicodeDecodeError, VocabularyError) as error:
        raise WeightsError(f"{where}: its vocabulary cannot be read ({one_line(error)})") from None


def _text(content: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)
