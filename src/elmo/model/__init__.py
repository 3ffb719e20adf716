"""The networks and their frozen configurations: CharCNN, BiLSTM, BiLM, ScalarMix. Knows torch, no files."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

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

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
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
    },
)
