"""What a model is, in facts that can be printed: for `elmo info`."""

from pathlib import Path
from typing import Any

from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import read_config


def describe_model(source: str | Path) -> dict[str, Any]:
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
