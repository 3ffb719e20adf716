"""A model on disk to a `BiLM` and back: native and foreign formats, published models by name. Trusts no file."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.weights.describe import describe_model
    from elmo.weights.formats import find_model, read_model, write_model
    from elmo.weights.loaded import LoadedModel
    from elmo.weights.onnxfile import write_onnx
    from elmo.weights.published.catalogue import KnownModel, known_models
    from elmo.weights.softmax import Softmax
    from elmo.weights.softmaxfile import add_softmax, write_softmax
    from elmo.weights.verify import verify_model

__all__ = [
    "KnownModel",
    "LoadedModel",
    "Softmax",
    "add_softmax",
    "describe_model",
    "find_model",
    "known_models",
    "read_model",
    "verify_model",
    "write_model",
    "write_onnx",
    "write_softmax",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "KnownModel": "elmo.weights.published.catalogue",
        "LoadedModel": "elmo.weights.loaded",
        "Softmax": "elmo.weights.softmax",
        "add_softmax": "elmo.weights.softmaxfile",
        "describe_model": "elmo.weights.describe",
        "find_model": "elmo.weights.formats",
        "known_models": "elmo.weights.published.catalogue",
        "read_model": "elmo.weights.formats",
        "verify_model": "elmo.weights.verify",
        "write_model": "elmo.weights.formats",
        "write_onnx": "elmo.weights.onnxfile",
        "write_softmax": "elmo.weights.softmaxfile",
    },
)
