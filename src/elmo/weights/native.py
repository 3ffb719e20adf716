"""The native format: a directory of config.json, model.safetensors, vocab.txt and README.md, written whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from elmo.disk.directories import atomic_directory, recover
from elmo.disk.guarded.jsonvalues import integer
from elmo.disk.guarded.plainfiles import file_sha256, member, read_bytes, read_json, shortened
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.bilm import BiLM, BiLMConfig
from elmo.model.fields import read_fields
from elmo.model.tokens import TokensConfig
from elmo.text.codepoints import Dictionaries, Ids, dictionary_text, parse_dictionary_text
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import UnreadVocabulary
from elmo.weights.card import default_card
from elmo.weights.choices import SoftmaxStorage, Storage
from elmo.weights.format import Format, Read
from elmo.weights.guarded.limits import check_sizes, check_values
from elmo.weights.guarded.tensorfile import read_header, read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel, Softmax, SoftmaxApart, Training
from elmo.weights.quantized import SCALE, dequantize, is_half, quantize_all, scale_shape
from elmo.weights.selftest import run_self_test
from elmo.weights.softmaxfile import SOFTMAX, copy_softmax, find_apart, write_softmax
from elmo.weights.tensors import SETTLED, check_finite, content_sha256, empty_bilm, fill, tensor_shapes

FORMAT = "elmo"
FORMAT_VERSION = 1
CONFIG, WEIGHTS, VOCABULARY, CARD = "config.json", "model.safetensors", "vocab.txt", "README.md"
WORDS, CHARACTERS = "words.tsv", "characters.tsv"  # of models from ELMoForManyLangs
MIX = ("mix.weights", "mix.gamma")  # what transformers has learned beside the biLM (`ElmoConfig.output`)
MOST_CARD_BYTES = 1 << 20
MOST_DICTIONARY_BYTES = 64 << 20

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int8": torch.float32,  # what is not in eight bits: biases, scales
}


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


def read_native(
    directory: Path,
    *,
    config: dict[str, Any] | None = None,
    dtype: torch.dtype | None = torch.float32,
    finite: bool = True,
) -> LoadedModel:
    """Read a model directory. The numbers stay mapped to the file where `dtype` (None: as stored) is the stored one.

    Weights in eight bits are read as float32. `config` is what `find_config` has found there.
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
    bilm = empty_bilm(architecture)
    tensors = _read_tensors(weights, bilm, dtype=dtype)
    if finite:
        check_finite(tensors, where=str(weights))
    softmax: Softmax | SoftmaxApart | None = find_apart(directory, values.get("softmax"))
    if "softmax.weight" in tensors:
        softmax = Softmax(tensors.pop("softmax.weight"), tensors.pop("softmax.bias"))
    card = directory / CARD
    return LoadedModel(
        bilm=fill(bilm, tensors),
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
    if storage not in DTYPES:
        raise WeightsError(f"storage is {storage!r}, but one of {', '.join(DTYPES)} is wanted")
    if not model.is_settled:
        model.settle()
    with atomic_directory(directory, overwrite=overwrite, replaceable=is_native) as temporary:
        apart = model.softmax_apart if softmax is None else None
        stored = _stored(model, DTYPES[storage], softmax=apart is None and softmax is None)
        if storage == "int8":
            stored = quantize_all(stored)
        weights = temporary / WEIGHTS
        write_tensors(weights, stored)
        if model.vocabulary is not None:
            model.vocabulary.write(temporary / VOCABULARY)
        for name, ids in _dictionary_files(model.dictionaries).items():
            (temporary / name).write_bytes(dictionary_text(ids))
        for name, write in (extra or {}).items():
            write(temporary / name)
        # From here on the model as a reader will see it, rounding included.
        bilm = empty_bilm(model.config)
        tensors = _read_tensors(weights, bilm)
        check_finite(tensors, where=f"{directory} (not written)")
        as_read = LoadedModel(
            bilm=fill(bilm, {name: t for name, t in tensors.items() if not name.startswith("softmax.")}),
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
                "content_sha256": content_sha256(as_read.bilm.state_dict()),
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


def _read_tensors(path: Path, bilm: BiLM, *, dtype: torch.dtype | None = torch.float32) -> dict[str, Tensor]:
    shapes = tensor_shapes(bilm, settled=True)
    check_values(shapes.values(), where=str(path))
    header = read_header(path)
    learned_mix = [name for name in header if name in MIX]
    shapes |= {name: header[name].shape for name in learned_mix}
    if "softmax.weight" in header:
        V = header["softmax.weight"].shape[0] if header["softmax.weight"].shape else 0
        shapes |= {"softmax.weight": (V, bilm.config.lstm.output_dim), "softmax.bias": (V,)}
    quantized = {name: shape for name, shape in shapes.items() if name in header and header[name].dtype is torch.int8}
    for name, shape in quantized.items():
        scales = scale_shape(name, shape)
        if scales is None:
            raise WeightsError(f"{path}: {name}: is of type I8, but this tensor is not stored in eight bits")
        shapes[name + SCALE] = scales
    tensors = read_tensors(path, shapes, header=header)
    for name in learned_mix:
        del tensors[name]
    for name in quantized:
        tensors[name] = dequantize(tensors[name], tensors.pop(name + SCALE))
    if quantized:
        halves = [name for name, tensor in tensors.items() if is_half(name) and tensor.dtype is torch.float16]
        tensors |= {name: tensors[name].float() for name in halves}
    kinds = {tensor.dtype for name, tensor in tensors.items() if name not in SETTLED}
    if len(kinds) > 1 or not next(iter(kinds)).is_floating_point:
        raise WeightsError(f"{path}: holds tensors of the types {_names(kinds)}, but one of floats is wanted")
    target = dtype or kinds.pop()
    return {name: tensor.to(target) for name, tensor in tensors.items()}


def _names(kinds: set[torch.dtype]) -> str:
    return ", ".join(sorted(str(kind).removeprefix("torch.") for kind in kinds))


def _stored(model: LoadedModel, dtype: torch.dtype, *, softmax: bool) -> dict[str, Tensor]:
    """The tensors as they go into the file; the settled state stays in float32."""
    tensors = {name: tensor.detach() for name, tensor in model.bilm.state_dict().items()}
    if softmax and model.softmax is not None:
        tensors |= {"softmax.weight": model.softmax.weight.detach(), "softmax.bias": model.softmax.bias.detach()}
    return {name: t.to("cpu", torch.float32 if name in SETTLED else dtype) for name, t in tensors.items()}


def _find(path: Path) -> Read | None:
    config = find_config(path) if path.is_dir() else None
    return None if config is None else native_reader(path, config)


def native_reader(directory: Path, config: dict[str, Any]) -> Read:
    """What reads a model directory whose config.json is known."""
    return lambda asked: read_native(directory, config=config, dtype=asked.dtype, finite=asked.finite)


NATIVE = Format(
    name="native",
    find=_find,
    write=lambda model, path, asked: write_native(model, path, **asked._asdict()),
    directory="an ELMo of this program (config.json with model.safetensors)",
)
