"""The networks and their frozen configurations: CharCNN, BiLSTM, BiLM, ScalarMix. Knows torch, no files."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.model.architecture import BiLMConfig
    from elmo.model.bilm import BiLM
    from elmo.model.bilstm import BiLSTM
    from elmo.model.characters import CharCNNConfig
    from elmo.model.charcnn import CharCNN
    from elmo.model.mix import ScalarMix
    from elmo.model.stacks import BiLSTMConfig
    from elmo.model.state import State
    from elmo.model.words import WordTableConfig
    from elmo.model.wordtable import WordTable

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
    "BiLMConfig": "elmo.model.architecture",
    "BiLSTM": "elmo.model.bilstm",
    "BiLSTMConfig": "elmo.model.stacks",
    "CharCNN": "elmo.model.charcnn",
    "CharCNNConfig": "elmo.model.characters",
    "ScalarMix": "elmo.model.mix",
    "State": "elmo.model.state",
    "WordTable": "elmo.model.wordtable",
    "WordTableConfig": "elmo.model.words",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'elmo.model' has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
