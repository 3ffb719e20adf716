"""What a model is, in facts that can be printed: for `elmo info`."""

from pathlib import Path
from typing import Any

from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import WEIGHTS, read_config, stored_as
from elmo.weights.softmaxfile import softmax_storage


def describe_model(source: str | Path) -> dict[str, Any]:
    """Facts by name, in reading order; all values are text, numbers or lists of them."""
    model = read_model(source, settle=False, finite=False)
    facts: dict[str, Any] = {"path": model.source, "format": model.format}
    stored = "float32"
    if model.format == "native":
        config = read_config(Path(model.source or ""))
        facts["format version"] = config["format_version"]
        stored = stored_as(Path(model.source or "") / WEIGHTS)
    facts |= _architecture(model)
    facts |= {
        "parameters": model.parameter_count,
        "stored as": stored,
        "tokenizer": f"{model.tokenizer.rule}, language {model.tokenizer.language or 'none (a sentence a line)'}",
        "vocabulary": f"{len(model.vocabulary):,} words" if model.vocabulary is not None else "none",
        "softmax": _softmax(model),
        "settled state": "stored" if model.is_settled else "computed when loaded",
        "sha256 of the numbers": model.sha256,
    }
    return facts


def _softmax(model: LoadedModel) -> str:
    apart = model.softmax_apart
    if apart is None:
        return "included" if model.has_softmax else "none"
    size = apart.path.stat().st_size / 1e6
    return f"{apart.path.name}, {softmax_storage(apart.path)}, {size:.1f} MB, read when asked for"


def _architecture(model: LoadedModel) -> dict[str, Any]:
    tokens, lstm = model.config.tokens, model.config.lstm
    return {
        "token input": tokens.kind,
        **tokens.facts(),
        "LSTM layers": lstm.layers,
        "directions": f"{lstm.directions}, {lstm.kind}" if lstm.directions > 1 else 1,
        "cell": lstm.cell_dim,
        "projection": lstm.projection_dim or "none",
        **lstm.facts(),
        "vectors": f"{model.config.layer_count} layers of {model.config.output_dim}",
    }
