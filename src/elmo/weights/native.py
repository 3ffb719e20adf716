"""The native format: a directory of config.json, model.safetensors, vocab.txt and README.md, written whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from elmo.disk.directories import atomic_directory, recover
from elmo.disk.guarded.jsonvalues import integer
from elmo.disk.guarded.plainfiles import file_sha256, member, read_bytes, read_json, shortened
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.fields import read_fields
from elmo.model.kinds import TokensConfig
from elmo.text.codepoints import Dictionaries, Ids, dictionary_text, parse_dictionary_text
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import UnreadVocabulary
from elmo.weights.arrays import BiLMArrays, StoredTensors
from elmo.weights.card import default_card
from elmo.weights.choices import SoftmaxStorage, Storage
from elmo.weights.format import Format, Read
from elmo.weights.guarded.arrayfile import FLOATS, TYPES, Numbers, StoredFile, read_header, to_bfloat16, write_arrays
from elmo.weights.guarded.limits import check_sizes, check_values
from elmo.weights.loaded import LoadedModel, Training
from elmo.weights.quantized import is_half, quantize_all, scale_shape
from elmo.weights.selftest import run_self_test
from elmo.weights.softmax import SoftmaxApart, SoftmaxArrays, StoredSoftmax
from elmo.weights.softmaxfile import SOFTMAX, copy_softmax, find_apart, write_softmax
from elmo.weights.tensors import SCALE, SETTLED, check_finite, tensor_shapes

FORMAT = "elmo"
FORMAT_VERSION = 1
SOFTMAX_WEIGHT, SOFTMAX_BIAS = "softmax.weight", "softmax.bias"
CONFIG, WEIGHTS, VOCABULARY, CARD = "config.json", "model.safetensors", "vocab.txt", "README.md"
WORDS, CHARACTERS = "words.tsv", "characters.tsv"  # of models from ELMoForManyLangs
MIX = ("mix.weights", "mix.gamma")  # what transformers has learned beside the biLM (`ElmoConfig.output`)
MOST_CARD_BYTES = 1 << 20
MOST_DICTIONARY_BYTES = 64 << 20

STORAGES = ("float32", "float16", "bfloat16", "int8")
STORED = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def is_native(path: Path) -> bool:
    """Whether a directory is a model in this format, of any version."""
    return find_config(path) is not None


def find_config(directory: Path) -> dict[str, Any] | None:
    """config.json as it stands there, of any version; None where there is no model in this format."""
    try:
        values = read_json(member(directory, CONFIG))
    except WeightsError:
        return None
    return values if values.get("format") == FORMAT else None


def read_config(directory: Path) -> dict[str, Any]:
    """config.json in the current version's form."""
    path = member(directory, CONFIG)
    return upgrade(read_json(path), where=str(path))


def upgrade(values: dict[str, Any], *, where: str) -> dict[str, Any]:
    """config.json of any older version as the current version has it. A newer one fails."""
    if values.get("format") != FORMAT:
        raise WeightsError(f"{where}: format is {shortened(values.get('format'))}, but {FORMAT!r} is wanted")
    version = values.get("format_version")
    if type(version) is not int or version < 1:
        raise WeightsError(f"{where}: format_version is {shortened(version)}, but a number from 1 is wanted")
    if version > FORMAT_VERSION:
        raise WeightsError(
            f"{where}: format_version is {version}, but this release reads up to {FORMAT_VERSION}; "
            "update it with `pip install --upgrade elmo-embeddings`"
        )
    return values


def read_native(directory: Path, *, config: dict[str, Any] | None = None, finite: bool = True) -> LoadedModel:
    """Read a model directory. The numbers stay in the file, mapped, and are given in float32 when they are asked for.

    `config` is what `find_config` has found there.
    """
    recover(directory)
    config_path = member(directory, CONFIG)
    values = upgrade(read_json(config_path) if config is None else config, where=str(config_path))
    try:
        architecture = BiLMConfig.from_dict(_required(values, "architecture"), where="architecture")
        tokenizer = Tokenizer.from_dict(_required(values, "tokenizer"))
        training = read_fields(Training, values["training"], where="training") if "training" in values else None
    except ConfigError as error:
        raise WeightsError(f"{config_path}: {error}") from None
    check_sizes(architecture, where=str(config_path))
    vocabulary = UnreadVocabulary.of(member(directory, VOCABULARY)) if (directory / VOCABULARY).is_file() else None
    weights = member(directory, WEIGHTS)
    tensors = _read_tensors(weights, architecture)
    if finite:  # what is in eight bits is so if its scales are
        check_finite(tensors.stored, where=str(weights))
    softmax: StoredSoftmax | SoftmaxApart | None = find_apart(directory, values.get("softmax"))
    if SOFTMAX_WEIGHT in tensors:
        shapes = tensors.stored[SOFTMAX_WEIGHT].shape, tensors.stored[SOFTMAX_BIAS].shape
        softmax = StoredSoftmax(shapes, lambda: SoftmaxArrays(tensors[SOFTMAX_WEIGHT], tensors[SOFTMAX_BIAS]))
    card = directory / CARD
    return LoadedModel(
        bilm=_arrays_of(architecture, tensors),
        tokenizer=tokenizer,
        vocabulary=vocabulary,
        dictionaries=_read_dictionaries(directory, values, architecture.tokens),
        softmax=softmax,
        card=read_bytes(member(directory, CARD), most_bytes=MOST_CARD_BYTES).decode("utf-8", "replace")
        if card.is_file()
        else None,
        training=training,
        format=NATIVE.name,
        source=str(directory),
    )


def write_native(
    model: LoadedModel,
    directory: Path,
    *,
    storage: Storage = "float32",
    card: str | None = None,
    finish_card: Callable[[str], str] = str,
    overwrite: bool = False,
    softmax: SoftmaxStorage | None = None,
    extra: Mapping[str, Callable[[Path], None]] | None = None,
    keys: Mapping[str, Any] | None = None,
) -> None:
    """Write a model directory, atomically. A model without a settled state gets one.

    `softmax` puts the softmax into a file of its own, in so many bits; one that lies apart stays apart, as it is.
    `extra` are further files by name, each written by a function of its path: a training's checkpoint is a model too.
    `keys` are further keys of config.json, which other programs look for; `finish_card` is told the card's text.
    """
    if storage not in STORAGES:
        raise WeightsError(f"storage is {storage!r}, but one of {', '.join(STORAGES)} is wanted")
    if not model.is_settled:
        model.settle()
    with atomic_directory(directory, overwrite=overwrite, replaceable=is_native) as temporary:
        apart = model.softmax_apart if softmax is None else None
        weights = temporary / WEIGHTS
        write_arrays(weights, _stored(model, storage, softmax=apart is None and softmax is None))
        if model.vocabulary is not None:
            model.vocabulary.write(temporary / VOCABULARY)
        for name, ids in _dictionary_files(model.dictionaries).items():
            (temporary / name).write_bytes(dictionary_text(ids))
        for name, write in (extra or {}).items():
            write(temporary / name)
        # From here on the model as a reader will see it, rounding included.
        tensors = _read_tensors(weights, model.config)
        check_finite(tensors.stored, where=f"{directory} (not written)")
        as_read = LoadedModel(
            bilm=_arrays_of(model.config, tensors),
            tokenizer=model.tokenizer,
            vocabulary=model.vocabulary,
            dictionaries=model.dictionaries,
        )
        values: dict[str, Any] = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "architecture": model.config.to_dict(),
            "tokenizer": model.tokenizer.to_dict(),
            "weights": {
                "storage": storage,
                "sha256": file_sha256(weights),
                "content_sha256": as_read.sha256,
            },
            "self_test": run_self_test(as_read),
            **(keys or {}),
        }
        if softmax is not None:
            write_softmax(model, temporary / SOFTMAX, storage=softmax, bilms=[as_read.sha256])
        elif apart is not None:
            copy_softmax(apart.path, temporary / SOFTMAX, bilms=[as_read.sha256])
        if (temporary / SOFTMAX).is_file():
            values["softmax"] = {"sha256": file_sha256(temporary / SOFTMAX)}
        if model.training is not None:
            values["training"] = asdict(model.training)
        if model.dictionaries is not None:
            values["longest_word"] = model.dictionaries.longest
        (temporary / CONFIG).write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        text = card or model.card or default_card(model, values)
        (temporary / CARD).write_text(finish_card(text), encoding="utf-8", errors="replace")


def _dictionary_files(dictionaries: Dictionaries | None) -> dict[str, Ids]:
    if dictionaries is None:
        return {}
    files = {WORDS: dictionaries.words, CHARACTERS: dictionaries.characters}
    return {name: ids for name, ids in files.items() if ids is not None}


def _read_dictionaries(directory: Path, values: dict[str, Any], tokens: TokensConfig) -> Dictionaries | None:
    if tokens.dictionary_sizes is None:
        return None
    try:
        found: dict[str, Ids] = {}
        for name, size in zip((WORDS, CHARACTERS), tokens.dictionary_sizes, strict=True):
            if size:
                path = member(directory, name)
                content = read_bytes(path, most_bytes=MOST_DICTIONARY_BYTES)
                found[name] = parse_dictionary_text(content, where=str(path))
        longest = values.get("longest_word")
        return Dictionaries(
            words=found.get(WORDS),
            characters=found.get(CHARACTERS),
            characters_in_row=tokens.row_length - 1,  # the first id is the word's
            longest=None if longest is None else integer(values, "longest_word", where=str(directory / CONFIG)),
        )
    except InputError as error:
        raise WeightsError(f"{directory}: {error}") from None


def _required(values: dict[str, Any], key: str) -> Any:
    if key not in values:
        raise ConfigError(f"key {key!r} is missing")
    return values[key]


def _read_tensors(path: Path, config: BiLMConfig) -> StoredTensors:
    shapes = tensor_shapes(config, settled=True)
    check_values(shapes.values(), where=str(path))
    file = StoredFile(path)
    header = file.header
    learned_mix = [name for name in header if name in MIX]
    shapes |= {name: header[name].shape for name in learned_mix}
    if SOFTMAX_WEIGHT in header:
        V = header[SOFTMAX_WEIGHT].shape[0] if header[SOFTMAX_WEIGHT].shape else 0
        shapes |= {SOFTMAX_WEIGHT: (V, config.lstm.output_dim), SOFTMAX_BIAS: (V,)}
    quantized = [name for name in shapes if name in header and header[name].dtype == "I8"]
    for name in quantized:
        scales = scale_shape(name, shapes[name])
        if scales is None:
            raise WeightsError(f"{path}: {name}: is of type I8, but this tensor is not stored in eight bits")
        shapes[name + SCALE] = scales
    arrays = file.arrays(shapes)
    weights = [name for name in shapes if name not in (*SETTLED, *MIX)]
    halves = [name for name in weights if quantized and is_half(name) and header[name].dtype in FLOATS]
    kinds = {"F32" if name in halves or name in quantized else header[name].dtype for name in weights}
    if len(kinds) > 1 or next(iter(kinds)) not in FLOATS:
        raise WeightsError(f"{path}: holds tensors of the types {_names(kinds)}, but one of floats is wanted")
    return StoredTensors({name: array for name, array in arrays.items() if name not in learned_mix})


def stored_as(path: Path) -> Storage:
    """In which numbers a weights file keeps most of its weights."""
    kinds = {info.dtype for name, info in read_header(path).items() if name not in (*SETTLED, *MIX)}
    return "int8" if "I8" in kinds else cast(Storage, STORED.get(kinds.pop(), "float32"))


def _names(kinds: set[str]) -> str:
    return ", ".join(sorted(STORED.get(kind, np.dtype(TYPES[kind]).name) for kind in kinds))


def _arrays_of(config: BiLMConfig, tensors: StoredTensors) -> BiLMArrays:
    own = {name: array for name, array in tensors.stored.items() if not name.startswith("softmax.")}
    return BiLMArrays.of(config, StoredTensors(own))


def _stored(model: LoadedModel, storage: Storage, *, softmax: bool) -> dict[str, Numbers]:
    """The arrays as they go into the file; the settled state stays in float32."""
    tensors = dict(model.tensors)
    arrays = model.softmax_arrays if softmax else None
    if arrays is not None:
        tensors |= {SOFTMAX_WEIGHT: arrays.weight, SOFTMAX_BIAS: arrays.bias}
    tensors = {name: array.astype(np.float32, copy=False) for name, array in tensors.items()}
    if storage == "int8":
        return quantize_all(tensors)
    with np.errstate(over="ignore"):  # what does not fit is found as infinite
        return {name: a if name in SETTLED else _in(storage, a) for name, a in tensors.items()}


def _in(storage: Storage, array: Numbers) -> Numbers:
    if storage == "bfloat16":
        return to_bfloat16(array)
    return array.astype(storage, copy=False)


def _find(path: Path) -> Read | None:
    config = find_config(path) if path.is_dir() else None
    return None if config is None else native_reader(path, config)


def native_reader(directory: Path, config: dict[str, Any]) -> Read:
    """What reads a model directory whose config.json is known."""
    return lambda asked: read_native(directory, config=config, finite=asked.finite)


NATIVE = Format(
    name="native",
    find=_find,
    write=lambda model, path, asked: write_native(model, path, **asked._asdict()),
    directory="an ELMo of this program (config.json with model.safetensors)",
)
