"""The layout of bilm-tf and AllenNLP: `options.json` beside an HDF5 file of weights, read and written.

Tensors are the native ones cut and stacked, never computed, so that a round trip changes no bit. The forget gate's bias
is stored without its 1 in both.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo.disk.guarded.jsonvalues import clip, integer, pairs, table, text, truth
from elmo.disk.guarded.plainfiles import shortened
from elmo.errors import ConfigError, WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.model.kinds import TokensConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.model.words import WordTableConfig
from elmo.text.chars import CHARACTER_COUNT, CHARACTERS_IN_ROW
from elmo.weights.guarded.arrayfile import Numbers
from elmo.weights.guarded.limits import check_sizes, check_values
from elmo.weights.tensors import tensor_shapes

STORED_CHARACTERS = CHARACTER_COUNT - 1  # the row of id 0, all zeros, is not stored


def config_from_options(options: Mapping[str, Any], *, words: int | None, where: str) -> BiLMConfig:
    """The architecture that an options.json describes; keys that inference does not need are left alone.

    `words` is the number of rows of the `embedding` dataset, for models that read word ids.
    """
    lstm = table(options, "lstm", where=where)
    cell_dim = integer(lstm, "dim", where=f"{where}: lstm")
    output_dim = integer(lstm, "projection_dim", default=cell_dim, where=f"{where}: lstm")
    try:
        config = BiLMConfig(
            tokens=_tokens_from_options(options, output_dim, words, where=where),
            lstm=BiLSTMConfig(
                input_dim=output_dim,
                cell_dim=cell_dim,
                # The original projects only where it makes the output smaller. [bilm-tf model.py, _build_lstms]
                projection_dim=output_dim if output_dim < cell_dim else None,
                layers=integer(lstm, "n_layers", default=1, where=f"{where}: lstm"),
                cell_clip=clip(lstm, "cell_clip", where=f"{where}: lstm"),
                projection_clip=clip(lstm, "proj_clip", where=f"{where}: lstm"),
                skip_connections=truth(lstm, "use_skip_connections", default=False, where=f"{where}: lstm"),
                bidirectional=truth(options, "bidirectional", default=True, where=where),
            ),
        )
    except ConfigError as error:
        raise WeightsError(f"{where}: {error}") from None
    check_sizes(config, where=where)
    return config


def options_from_config(config: BiLMConfig) -> dict[str, Any]:
    """What bilm-tf and AllenNLP need in options.json to load the model. Fails if the layout cannot express it."""
    lstm = require_lstm(config)
    if lstm.projection_dim is not None and lstm.projection_dim >= lstm.cell_dim:
        raise WeightsError(
            f"lstm.projection_dim is {lstm.projection_dim} and lstm.cell_dim {lstm.cell_dim}; bilm-tf's format holds a "
            "projection only where it makes the output smaller; save in the native format"
        )
    options: dict[str, Any] = {
        "lstm": {
            "cell_clip": _number(lstm.cell_clip),
            "dim": lstm.cell_dim,
            "n_layers": lstm.layers,
            "proj_clip": _number(lstm.projection_clip),
            "projection_dim": lstm.output_dim,
            "use_skip_connections": lstm.skip_connections,
        },
        **_token_layout(config.tokens).options,
    }
    if not lstm.bidirectional:
        options["bidirectional"] = False
    return options


def require_lstm(config: BiLMConfig) -> BiLSTMConfig:
    """The LSTM's configuration, of the one kind that the layout can express."""
    if not isinstance(config.lstm, BiLSTMConfig):
        raise WeightsError(
            f"lstm.kind is {config.lstm.kind!r}, which bilm-tf's format cannot hold; save in the native format"
        )
    return config.lstm


def refused_by_allennlp(config: BiLMConfig) -> list[str]:
    """What bilm-tf loads and AllenNLP does not."""
    lstm = require_lstm(config)
    unprojected = lstm.projection_dim is None or not _token_layout(config.tokens).projected
    refusals = {
        "AllenNLP refuses a model without skip connections; bilm-tf loads it": not lstm.skip_connections,
        "AllenNLP refuses a model without projections; bilm-tf loads it": unprojected,
        "AllenNLP has no models that read word ids; bilm-tf loads it": config.tokens.reads_words,
    }
    return [text for text, refused in refusals.items() if refused]


def read_weights(path: Path, config: BiLMConfig, *, embedding: Path | None = None) -> dict[str, Numbers]:
    """The weights of an architecture, by their names, from an HDF5 file.

    `embedding` is the file of the word vectors where they lie apart. [bilm-tf dump_token_embeddings]
    """
    pieces = list(_pieces(config))
    check_values((piece.shape for piece in pieces), where=str(path))
    tensors: dict[str, Numbers] = {}
    from elmo.disk.guarded.hdf5 import open_hdf5  # imported at need: most models are in other files

    with open_hdf5(path) as datasets, open_hdf5(embedding or path) as words:
        # All names and shapes before the first number: a wrong file fails at once and allocates nothing.
        found = [(words if piece.names[0] == "embedding" else datasets, piece) for piece in pieces]
        names = [file.check(piece.names, piece.shape) for file, piece in found]
        tensors = {name: np.zeros(shape, np.float32) for name, shape in tensor_shapes(config).items()}
        for (file, piece), name in zip(found, names, strict=True):
            views = [tensors[tensor][index] for tensor, index in piece.parts]
            if len(views) == 1:
                file.read(name, piece.shape, out=views[0].reshape(piece.shape))
            else:
                values = file.read(name, piece.shape)
                start = 0
                for view in views:
                    view[...] = values[start : start + len(view)]
                    start += len(view)
    return tensors


def vocabulary_size(path: Path, *, options: Path) -> int:
    """Rows of the `embedding` dataset."""
    from elmo.disk.guarded.hdf5 import open_hdf5

    with open_hdf5(path) as datasets:
        if not datasets.has("embedding"):
            raise WeightsError(f"{options}: char_cnn is missing, and {path} has no dataset 'embedding' of words either")
        shape = datasets.shape("embedding")
    if len(shape) != 2:
        raise WeightsError(f"{path}: embedding: found shape {shortened(shape)}, but two sizes (words, dim) are wanted")
    return shape[0]


def write_weights(path: Path, config: BiLMConfig, tensors: Mapping[str, Numbers]) -> None:
    """Write the HDF5 file of a model's tensors, in float32."""
    import h5py

    with h5py.File(path, "x") as file:
        for piece in _pieces(config):
            parts = [tensors[name][index].astype(np.float32, copy=False) for name, index in piece.parts]
            data = np.concatenate(parts).reshape(piece.shape)
            file.create_dataset(piece.names[0], data=data, dtype="float32")


class _Piece(NamedTuple):
    """One dataset, and the parts of native tensors that stand in it one below the other."""

    names: tuple[str, ...]  # the first is written; the others are found in some files
    shape: tuple[int, ...]
    parts: tuple[tuple[str, Any], ...]  # name of a tensor and an index into it


def _pieces(config: BiLMConfig) -> Iterator[_Piece]:
    """The whole layout. Word vectors or characters come first."""
    yield from _token_layout(config.tokens).pieces
    lstm = require_lstm(config)
    C, D = lstm.cell_dim, lstm.output_dim
    for layer in range(lstm.layers):
        rows = (lstm.input_dim if layer == 0 else D) + D
        for direction in range(lstm.directions):

            def piece(
                name: str, old: str, shape: tuple[int, ...], *tensors: str, layer: int = layer, r: int = direction
            ) -> _Piece:
                parts = tuple((f"lstm.layers.{layer}.{tensor}", r) for tensor in tensors)
                return _Piece(_lstm_names(lstm, layer, r, name, old), shape, parts)

            yield piece("W_0", "kernel", (rows, 4 * C), "weight_x", "weight_h")
            yield piece("B", "bias", (4 * C,), "bias")
            if lstm.projection_dim is not None:
                yield piece("W_P_0", "projection/kernel", (C, D), "weight_projection")


def _lstm_names(lstm: BiLSTMConfig, layer: int, direction: int, name: str, old: str) -> tuple[str, ...]:
    """The name that bilm-tf's and AllenNLP's loaders read, and those that bilm-tf's own dump gives to odd models.

    With one layer the dump has no MultiRNNCell, with one direction no RNN_0. [bilm-tf training.py, dump_weights]
    """
    names = [f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/{name}"]
    if lstm.layers == 1:
        names.append(f"RNN_{direction}/RNN/LSTMCell/{name}")
    if not lstm.bidirectional:
        names.append(f"rnn/MultiRNNCell/Cell{layer}/LSTMCell/{old}" if lstm.layers > 1 else f"rnn/LSTMCell/{old}")
    return tuple(names)


class _TokenLayout(NamedTuple):
    """How a token encoder stands in the two files."""

    options: dict[str, Any]
    pieces: list[_Piece]
    projected: bool = True


def _token_layout(tokens: TokensConfig) -> _TokenLayout:
    """The two kinds that bilm-tf has."""
    if isinstance(tokens, CharCNNConfig):
        return _TokenLayout(_character_options(tokens), list(_character_pieces(tokens)), tokens.projected)
    if isinstance(tokens, WordTableConfig):
        vectors = (("tokens.weight", slice(1, None)),)
        return _TokenLayout({}, [_Piece(("embedding",), (tokens.words, tokens.output_dim), vectors)])
    raise WeightsError(f"tokens.kind is {tokens.kind!r}, which bilm-tf's format cannot hold; save in the native format")


def _character_options(tokens: CharCNNConfig) -> dict[str, Any]:
    return {
        "char_cnn": {
            "activation": tokens.activation,
            "embedding": {"dim": tokens.embedding_dim},
            "filters": [list(pair) for pair in tokens.filters],
            "max_characters_per_token": tokens.characters,
            "n_characters": CHARACTER_COUNT,
            "n_highway": tokens.highways,
        }
    }


def _character_pieces(tokens: CharCNNConfig) -> Iterator[_Piece]:
    E, N = tokens.embedding_dim, tokens.filter_count
    yield _Piece(("char_embed",), (STORED_CHARACTERS, E), (("tokens.characters", slice(1, None)),))
    for i, (width, count) in enumerate(tokens.filters):
        yield _Piece((f"CNN/W_cnn_{i}",), (1, width, E, count), ((f"tokens.filters.{i}", ...),))
        yield _Piece((f"CNN/b_cnn_{i}",), (count,), ((f"tokens.filter_biases.{i}", ...),))
    for k in range(tokens.highways):
        for gate in ("carry", "transform"):
            yield _Piece((f"CNN_high_{k}/W_{gate}",), (N, N), ((f"tokens.highways.{k}.weight_{gate}", ...),))
            yield _Piece((f"CNN_high_{k}/b_{gate}",), (N,), ((f"tokens.highways.{k}.bias_{gate}", ...),))
    if tokens.projected:
        D = tokens.output_dim
        yield _Piece(("CNN_proj/W_proj",), (N, D), (("tokens.weight_projection", ...),))
        yield _Piece(("CNN_proj/b_proj",), (D,), (("tokens.bias_projection", ...),))


def _tokens_from_options(
    options: Mapping[str, Any], output_dim: int, words: int | None, *, where: str
) -> CharCNNConfig | WordTableConfig:
    if words is not None:
        return WordTableConfig(words=words, output_dim=output_dim)
    cnn = table(options, "char_cnn", where=where)
    where = f"{where}: char_cnn"
    # 261 is what training wants and 262 what loading wants; the stored table has 261 rows either way.
    counted = integer(cnn, "n_characters", default=CHARACTER_COUNT, where=where)
    if counted not in (STORED_CHARACTERS, CHARACTER_COUNT):
        raise WeightsError(
            f"{where}: n_characters is {counted}, but {STORED_CHARACTERS} or {CHARACTER_COUNT} is wanted"
        )
    return CharCNNConfig(
        embedding_dim=integer(table(cnn, "embedding", where=where), "dim", where=f"{where}: embedding"),
        filters=pairs(cnn, "filters", where=where),
        highways=integer(cnn, "n_highway", default=0, where=where),
        activation=text(cnn, "activation", one_of=("relu", "tanh"), where=where),
        output_dim=output_dim,
        characters=integer(cnn, "max_characters_per_token", default=CHARACTERS_IN_ROW, where=where),
    )


def _number(value: float | None) -> float | int | None:
    """3.0 as 3, as the published files have it."""
    return int(value) if value is not None and value.is_integer() else value
