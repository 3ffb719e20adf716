"""A native model directory that transformers reads too: the keys and the file that it looks for. Needs no transformers.

The classes that read it are in `elmo.integrations.transformers`; the user imports them first.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo.disk.guarded.plainfiles import file_sha256, read_json
from elmo.disk.writing import write_file
from elmo.errors import WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.weights.card import converted_card, default_card, transformers_card
from elmo.weights.choices import Storage
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import CARD, CONFIG, FORMAT, FORMAT_VERSION, WEIGHTS, read_native, stored_as, write_native
from elmo.weights.selftest import run_self_test

TOKENIZER = "tokenizer_config.json"
MODEL_CLASS, TOKENIZER_CLASS = "ElmoModel", "ElmoTokenizer"


def write_transformers(
    model: LoadedModel,
    directory: Path,
    *,
    storage: Storage = "float32",
    card: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a model directory for both. Refuses what transformers' loader cannot hold."""
    if storage == "int8":
        raise WeightsError("storage is 'int8', which transformers does not read; choose float32, float16 or bfloat16")
    values = transformers_values(model)
    tokenizer = {**tokenizer_values(model.config, values["tokenizer"]), "tokenizer_class": TOKENIZER_CLASS}
    write_native(
        model.replace(softmax=None),
        directory,
        storage=storage,
        card=card,
        finish_card=transformers_card,
        overwrite=overwrite,
        extra={TOKENIZER: lambda path: write_file(path, _json(tokenizer))},
        keys={"model_type": FORMAT, "architectures": [MODEL_CLASS], "dtype": "float32"},
    )


def transformers_values(model: LoadedModel) -> dict[str, Any]:
    """What `ElmoConfig` is told of a model."""
    if model.config.tokens.kind != "characters":
        raise WeightsError(
            f"{model.source or 'model'}: reads words by {model.config.tokens.kind}; only models that read words by "
            "characters alone can be used in transformers"
        )
    return {"architecture": model.config.to_dict(), "tokenizer": model.tokenizer.to_dict()}


def tokenizer_values(architecture: BiLMConfig, tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """What `ElmoTokenizer` is told."""
    return {**tokenizer, "characters": architecture.tokens.row_length}


def complete_folder(directory: str | os.PathLike[str], **values: Any) -> None:
    """Make a folder that transformers has written a model that `elmo.load` reads: with the keys that it lacks."""
    folder = Path(directory)
    if not (folder / WEIGHTS).is_file():
        return  # in several files, for a model far larger than any ELMo
    config = {"format": FORMAT, "format_version": FORMAT_VERSION, **read_json(folder / CONFIG), **values}
    model = read_native(folder, config=config)
    config["weights"] = {
        "storage": stored_as(folder / WEIGHTS),
        "sha256": file_sha256(folder / WEIGHTS),
        "content_sha256": model.sha256,
    }
    config["self_test"] = run_self_test(model)
    write_file(folder / CONFIG, _json(config))
    (folder / WEIGHTS).chmod(stat.S_IMODE((folder / CONFIG).stat().st_mode))  # safetensors leaves it to its owner alone


def write_card(directory: str | os.PathLike[str], original: str | None) -> None:
    """The README.md of such a folder; `original` is that of the model that it was made from."""
    folder = Path(directory)
    config = read_json(folder / CONFIG)
    card = converted_card(original, config["weights"]["storage"]) or default_card(read_native(folder), config)
    write_file(folder / CARD, transformers_card(card).encode("utf-8"))


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
