"""What a model is, in facts that can be printed: for `elmo info`."""

from pathlib import Path
from typing import Any

from elmo.model.bilstm import BiLSTMConfig
from elmo.model.charcnn import CharCNNConfig
from elmo.model.manylangs import ManyLangsConfig
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import read_config


def describe(source: str | Path) -> dict[str, Any]:
    """Facts by name, in reading order; all values are text, numbers or lists of them."""
    model = read_model(source, settle=False, finite=False, dtype=None)
    facts: dict[str, Any] = {"path": model.source, "format": model.format}
    stored = str(next(model.bilm.parameters()).dtype).removeprefix("torch.")
    if model.format == "native":
        config = read_config(Path(model.source or ""))
        facts["format version"] = config["format_version"]
        if (config.get("weights") or {}).get("storage") == "int8":  # read as float32, so the tensors do not tell
            stored = "int8"
    facts |= _architecture(model)
    facts |= {
        "parameters": model.parameter_count,
        "stored as": stored,
        "tokenizer": f"{model.tokenizer.rule}, language {model.tokenizer.language or 'none (a sentence a line)'}",
        "vocabulary": f"{len(model.vocabulary):,} words" if model.vocabulary is not None else "none",
        "softmax": "included" if model.softmax is not None else "none",
        "settled state": "stored" if model.is_settled else "computed when loaded",
        "sha256 of the numbers": model.sha256,
    }
    return facts


def _architecture(model: LoadedModel) -> dict[str, Any]:
    tokens, lstm = model.config.tokens, model.config.lstm
    facts: dict[str, Any] = {"token input": tokens.kind}
    if isinstance(tokens, CharCNNConfig):
        facts |= {
            "character vectors": tokens.embedding_dim,
            "filters": _filters(tokens.filters),
            "highways": tokens.highways,
            "activation": tokens.activation,
            "characters in a row": tokens.characters,
        }
    elif isinstance(tokens, ManyLangsConfig):
        facts |= {
            "words": f"{tokens.words:,} vectors of {tokens.word_dim}",
            "characters": f"{tokens.alphabet:,} vectors of {tokens.embedding_dim}",
            "filters": _filters(tokens.filters),
            "highways": tokens.highways,
        }
    else:
        facts["words"] = tokens.words
    facts |= {
        "LSTM layers": lstm.layers,
        "directions": f"{lstm.directions}, {lstm.kind}" if lstm.directions > 1 else 1,
        "cell": lstm.cell_dim,
        "projection": lstm.projection_dim or "none",
    }
    if isinstance(lstm, BiLSTMConfig):
        facts["clips"] = f"cell {lstm.cell_clip or 'none'}, projection {lstm.projection_clip or 'none'}"
        facts["skip connections"] = "yes" if lstm.skip_connections else "no"
    return facts | {"vectors": f"{model.config.layer_count} layers of {model.config.output_dim}"}


def _filters(filters: tuple[tuple[int, int], ...]) -> str:
    return " ".join(f"{width}x{count}" for width, count in filters) or "none"
