"""ELMoForManyLangs directories, read: an architecture in JSON, two dictionaries, two pickles of tensors.

Its gates stand in torch's order, its forget bias is stored whole, its highways gate the other way round: all of that is
turned into the native form here, by moving and negating numbers (only the forget bias is computed, less 1).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.guarded.jsonvalues import clip, integer, pairs, table, text
from elmo.disk.guarded.plainfiles import member, read_bytes, read_json, shortened
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.stacks import BiLSTMConfig, JointLSTMConfig
from elmo.ops.steps import FORGET_BIAS
from elmo.text.codepoints import PADDING, Dictionaries, Ids, parse_dictionary
from elmo.text.tokenizer import Tokenizer
from elmo.weights.arrays import BiLMArrays
from elmo.weights.format import Format, Read
from elmo.weights.guarded.arrayfile import Numbers
from elmo.weights.guarded.limits import check_sizes, check_values
from elmo.weights.guarded.pickles import read_state_dict
from elmo.weights.loaded import LoadedModel
from elmo.weights.tensors import check_finite, tensor_shapes

CONFIG, WORDS, CHARACTERS = "config.json", "word.dic", "char.dic"
TOKENS, ENCODER = "token_embedder.pkl", "encoder.pkl"
MOST_DICTIONARY_BYTES = 64 << 20  # the published ones have a few megabytes
# The language is not recorded: words by the Unicode rules, and each line is a sentence.
TOKENIZER = Tokenizer(rule="unicode", language=None)

# Published models often lack their architecture file and mean one that came with the program. [its configs/]
_PUBLISHED: dict[str, Any] = {
    "encoder": {"name": "elmo", "projection_dim": 512, "cell_clip": 3, "proj_clip": 3, "dim": 4096, "n_layers": 2},
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "max_characters_per_token": 50,
    },
}
ARCHITECTURES = {"cnn_50_100_512_4096_sample.json": _PUBLISHED, "cnn_0_100_512_4096_sample.json": _PUBLISHED}


def is_manylangs(directory: Path) -> bool:
    """Whether a directory has the files of such a model."""
    return all((directory / name).is_file() for name in (CONFIG, TOKENS, ENCODER))


def architecture_name(config: Mapping[str, Any], *, where: str) -> str:
    """The file name of the architecture. Only the name counts: the path is one of the author's machine."""
    path = config.get("config_path")
    if not isinstance(path, str):
        raise WeightsError(f"{where}: config_path is {shortened(path)}, but the name of a file is wanted")
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    if not name.endswith(".json") or len(name) > 255 or not name.isprintable():
        raise WeightsError(f"{where}: config_path is {shortened(path)}, but the name of a .json file is wanted")
    return name


def read_manylangs(directory: Path, *, architecture: Path | None = None, finite: bool = True) -> LoadedModel:
    """Read a model directory; the settled state is left to the caller.

    `architecture` is the JSON file of the architecture, where it does not stand in the directory under its own name.
    """
    values, where = _read_architecture(directory, architecture)
    tokens = table(values, "token_embedder", where=where)
    word_dim = integer(tokens, "word_dim", default=0, where=f"{where}: token_embedder")
    char_dim = integer(tokens, "char_dim", default=0, where=f"{where}: token_embedder")
    words = _read_dictionary(directory, WORDS) if word_dim > 0 else None
    characters = _read_dictionary(directory, CHARACTERS) if char_dim > 0 else None
    embedder = read_state_dict(member(directory, TOKENS))
    config = config_from_architecture(
        values,
        words=_rows(embedder, "word_emb_layer.embedding.weight", words, path=directory / TOKENS),
        alphabet=_rows(embedder, "char_emb_layer.embedding.weight", characters, path=directory / TOKENS),
        padding=(characters or {}).get(PADDING, 0),
        where=where,
    )
    assert isinstance(config.tokens, ManyLangsConfig)
    try:
        dictionaries = Dictionaries(
            words=words,
            characters=characters,
            characters_in_row=config.tokens.characters,
            longest=_longest_word(tokens, where=where),
        )
    except InputError as error:
        raise WeightsError(f"{directory}: {error}") from None
    check_values(tensor_shapes(config).values(), where=str(directory))
    tensors = _token_tensors(_Tensors(directory / TOKENS, embedder), config.tokens)
    encoder = _Tensors(directory / ENCODER, read_state_dict(member(directory, ENCODER)))
    lstm = config.lstm
    tensors |= _elmo_tensors(encoder, lstm) if isinstance(lstm, BiLSTMConfig) else _joint_tensors(encoder, lstm)
    if finite:
        check_finite(tensors, where=str(directory))
    return LoadedModel(
        bilm=BiLMArrays.of(config, tensors),
        tokenizer=TOKENIZER,
        dictionaries=dictionaries,
        format=MANYLANGS.name,
        source=str(directory),
    )


def config_from_architecture(
    values: Mapping[str, Any], *, words: int, alphabet: int, padding: int, where: str
) -> BiLMConfig:
    """The architecture that the JSON describes, with the sizes of the tables and the character id of padding."""
    encoder, tokens = (table(values, key, where=where) for key in ("encoder", "token_embedder"))
    inside, outside = f"{where}: token_embedder", f"{where}: encoder"
    D = integer(encoder, "projection_dim", where=outside)
    sizes: dict[str, Any] = {"input_dim": D, "cell_dim": integer(encoder, "dim", where=outside), "projection_dim": D}
    kind = text(tokens, "name", one_of=("cnn", "lstm"), where=inside)
    if kind == "lstm" and alphabet:
        raise WeightsError(
            f"{inside}: name is 'lstm' and char_dim above 0, which ELMoForManyLangs itself cannot run; only "
            "'cnn' reads characters"
        )
    try:
        spelling: dict[str, Any] = {}
        if alphabet:
            spelling = {
                "alphabet": alphabet,
                "embedding_dim": integer(tokens, "char_dim", where=inside),
                "filters": pairs(tokens, "filters", where=inside),
                "highways": integer(tokens, "n_highway", default=0, where=inside),
                "activation": text(tokens, "activation", one_of=("relu", "tanh"), where=inside),
                "characters": integer(tokens, "max_characters_per_token", where=inside),
                "padding": padding,
            }
        word_dim = integer(tokens, "word_dim", default=0, where=inside) if words else 0
        config = BiLMConfig(
            tokens=ManyLangsConfig(words=words, word_dim=word_dim, output_dim=D, **spelling),
            lstm=BiLSTMConfig(
                **sizes,
                layers=integer(encoder, "n_layers", where=outside),
                # 0 turns a clip off as well. [lstm_cell_with_projection.py]
                cell_clip=clip(encoder, "cell_clip", where=outside) or None,
                projection_clip=clip(encoder, "proj_clip", where=outside) or None,
            )
            if text(encoder, "name", one_of=("elmo", "lstm"), where=outside) == "elmo"
            else JointLSTMConfig(**sizes, layers=integer(encoder, "n_layers", where=outside)),
        )
    except ConfigError as error:
        raise WeightsError(f"{where}: {error}") from None
    check_sizes(config, where=where)
    return config


def _longest_word(tokens: Mapping[str, Any], *, where: str) -> int | None:
    """Words are cut to the row's length, less its two marks, even where only their word ids are read."""
    if tokens.get("name") != "cnn":
        return None
    return max(0, integer(tokens, "max_characters_per_token", where=f"{where}: token_embedder") - 2)


class _Tensors:
    """A state dictionary that hands out tensors of exactly the wanted shape."""

    def __init__(self, path: Path, tensors: Mapping[str, Numbers]) -> None:
        self._path = path
        self._tensors = tensors

    def take(self, name: str, *shape: int) -> Numbers:
        if name not in self._tensors:
            raise WeightsError(f"{self._path}: {name}: is missing, but {list(shape)} is wanted")
        found = self._tensors[name]
        if found.shape != shape or not np.issubdtype(found.dtype, np.floating):
            kind = f"{found.dtype} {shortened(list(found.shape))}"
            raise WeightsError(f"{self._path}: {name}: found {kind}, but float32 {list(shape)} is wanted")
        return np.ascontiguousarray(found, dtype=np.float32)


def _token_tensors(found: _Tensors, config: ManyLangsConfig) -> dict[str, Numbers]:
    tensors: dict[str, Numbers] = {}
    F = config.filter_count
    if config.words:
        tensors["tokens.words"] = found.take("word_emb_layer.embedding.weight", config.words, config.word_dim)
    if config.alphabet:
        E = config.embedding_dim
        tensors["tokens.characters"] = found.take("char_emb_layer.embedding.weight", config.alphabet, E)
        for i, (width, count) in enumerate(config.filters):
            weight = found.take(f"convolutions.{i}.weight", count, E, width)
            tensors[f"tokens.filters.{i}"] = np.ascontiguousarray(weight.transpose(2, 1, 0))  # [width, E, count]
            tensors[f"tokens.filter_biases.{i}"] = found.take(f"convolutions.{i}.bias", count)
        for k in range(config.highways):
            weight = found.take(f"highways._layers.{k}.weight", 2 * F, F)
            bias = found.take(f"highways._layers.{k}.bias", 2 * F)
            # Its gate keeps the input, ours lets the new value in: sigmoid(-x) = 1 - sigmoid(x).
            tensors |= {
                f"tokens.highways.{k}.weight_transform": np.ascontiguousarray(weight[:F].T),
                f"tokens.highways.{k}.bias_transform": bias[:F].copy(),
                f"tokens.highways.{k}.weight_carry": np.ascontiguousarray(-weight[F:].T),
                f"tokens.highways.{k}.bias_carry": -bias[F:],
            }
    weight = found.take("projection.weight", config.output_dim, config.word_dim + F)
    tensors["tokens.weight_projection"] = np.ascontiguousarray(weight.T)
    tensors["tokens.bias_projection"] = found.take("projection.bias", config.output_dim)
    return tensors


def _elmo_tensors(found: _Tensors, lstm: BiLSTMConfig) -> dict[str, Numbers]:
    C, P = lstm.cell_dim, lstm.output_dim
    tensors: dict[str, Numbers] = {}
    for n in range(lstm.layers):
        x, h, bias, projection = [], [], [], []
        for direction in ("forward", "backward"):
            name = f"{direction}_layer_{n}"
            x.append(_gates(found.take(f"{name}.input_linearity.weight", 4 * C, P)).T)
            h.append(_gates(found.take(f"{name}.state_linearity.weight", 4 * C, P)).T)
            bias.append(_bias(found.take(f"{name}.state_linearity.bias", 4 * C)))
            projection.append(found.take(f"{name}.state_projection.weight", P, C).T)
        tensors |= {
            f"lstm.layers.{n}.weight_x": _stacked(x),
            f"lstm.layers.{n}.weight_h": _stacked(h),
            f"lstm.layers.{n}.bias": _stacked(bias),
            f"lstm.layers.{n}.weight_projection": _stacked(projection),
        }
    return tensors


def _joint_tensors(found: _Tensors, lstm: JointLSTMConfig) -> dict[str, Numbers]:
    C, P = lstm.cell_dim, lstm.projection_dim
    tensors = {
        "lstm.weight_projection": np.ascontiguousarray(found.take("projection.weight", P, C).T),
        "lstm.bias_projection": found.take("projection.bias", P),
    }
    for n in range(lstm.layers):
        x, h, bias = [], [], []
        for suffix in (f"l{n}", f"l{n}_reverse"):
            D = lstm.input_dim if n == 0 else 2 * C
            x.append(_gates(found.take(f"encoder.weight_ih_{suffix}", 4 * C, D)).T)
            h.append(_gates(found.take(f"encoder.weight_hh_{suffix}", 4 * C, C)).T)
            both = [found.take(f"encoder.bias_{part}_{suffix}", 4 * C) for part in ("ih", "hh")]
            bias.append(_bias(both[0].astype(np.float64) + both[1]))
        tensors |= {
            f"lstm.layers.{n}.weight_x": _stacked(x),
            f"lstm.layers.{n}.weight_h": _stacked(h),
            f"lstm.layers.{n}.bias": _stacked(bias),
        }
    return tensors


def _stacked(parts: list[Numbers]) -> Numbers:
    """Rows that stay rows: of transposed matrices NumPy would make columns."""
    return np.ascontiguousarray(np.stack(parts))


def _gates(rows: Numbers) -> Numbers:
    """Rows of input, forget, candidate and output gates in our order: input, candidate, forget, output."""
    i, f, g, o = np.split(rows, 4)
    return np.concatenate([i, g, f, o])


def _bias(rows: Numbers) -> Numbers:
    """The same for a bias, less the forget bias that is added when the model runs."""
    i, f, g, o = np.split(rows.astype(np.float64), 4)
    return np.concatenate([i, g, f - FORGET_BIAS, o]).astype(np.float32)


def _read_architecture(directory: Path, file: Path | None) -> tuple[Mapping[str, Any], str]:
    if file is not None:
        return read_json(file), str(file)
    path = member(directory, CONFIG)
    name = architecture_name(read_json(path), where=str(path))
    if (directory / name).is_file():
        return read_json(member(directory, name)), str(directory / name)
    if name in ARCHITECTURES:
        return ARCHITECTURES[name], name
    raise WeightsError(f"{directory}: {name} is missing, the architecture that {CONFIG} names; put it beside {CONFIG}")


def _read_dictionary(directory: Path, name: str) -> Ids:
    path = member(directory, name)
    try:
        return parse_dictionary(read_bytes(path, most_bytes=MOST_DICTIONARY_BYTES), where=str(path))
    except InputError as error:
        raise WeightsError(str(error)) from None


def _rows(tensors: Mapping[str, Numbers], name: str, ids: Ids | None, *, path: Path) -> int:
    """Rows of a table of vectors. A table may be larger than its dictionary, in which some entries collapse."""
    if ids is None:
        return 0
    if name not in tensors or tensors[name].ndim != 2:
        raise WeightsError(f"{path}: {name}: is missing, but a table of vectors is wanted")
    rows = int(tensors[name].shape[0])
    highest = max(ids.values(), default=-1)
    if highest >= rows:
        raise WeightsError(f"{path}: {name}: has {rows:,} rows, but the dictionary has an id of {highest:,}")
    return rows


def _find(path: Path) -> Read | None:
    if not is_manylangs(path):
        return None
    return lambda asked: read_manylangs(path, finite=asked.finite)


MANYLANGS = Format(name="manylangs", find=_find, directory="ELMoForManyLangs' config.json with encoder.pkl")
