"""The networks and their frozen configurations: CharCNN, BiLSTM, BiLM, ScalarMix. Knows torch, no files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM, BiLMConfig
    from elmo.model.bilstm import BiLSTM, BiLSTMConfig, State
    from elmo.model.charcnn import CharCNN, CharCNNConfig
    from elmo.model.mix import ScalarMix
    from elmo.model.wordtable import WordTable, WordTableConfig

__all__ = [
    "BiLM",
    "BiLMConfig",
    "BiLSTM",
    "BiLSTMConfig",
    "CharCNN",
    "CharCNNConfig",
    "ScalarMix",
    "State",
    "WordTable",
    "WordTableConfig",
]

# Loaded on first use, so that the parts that need no torch do not wait for it.
_HOMES = {
    "BiLM": "elmo.model.bilm",
    "BiLMConfig": "elmo.model.bilm",
    "BiLSTM": "elmo.model.bilstm",
    "BiLSTMConfig": "elmo.model.bilstm",
    "CharCNN": "elmo.model.charcnn",
    "CharCNNConfig": "elmo.model.charcnn",
    "ScalarMix": "elmo.model.mix",
    "State": "elmo.model.bilstm",
    "WordTable": "elmo.model.wordtable",
    "WordTableConfig": "elmo.model.wordtable",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'elmo.model' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
