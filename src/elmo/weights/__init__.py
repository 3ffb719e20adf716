"""A model on disk to a `BiLM` and back: native and foreign formats, published models by name. Trusts no file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmo.weights.formats import find_model, read_model, write_model
    from elmo.weights.loaded import LoadedModel, Softmax
    from elmo.weights.onnxfile import write_onnx

__all__ = [
    "LoadedModel",
    "Softmax",
    "find_model",
    "read_model",
    "write_model",
    "write_onnx",
]

# Loaded on first use, so that a module of this package that needs no torch does not wait for it.
_HOMES = {
    "LoadedModel": "elmo.weights.loaded",
    "Softmax": "elmo.weights.loaded",
    "find_model": "elmo.weights.formats",
    "read_model": "elmo.weights.formats",
    "write_model": "elmo.weights.formats",
    "write_onnx": "elmo.weights.onnxfile",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'elmo.weights' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
