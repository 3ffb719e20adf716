"""AllenNLP's ELMo, 0.9 and 2.10: the same names, arguments, shapes and numbers, and the same state between calls.

`Elmo`, `batch_to_ids` and `ScalarMix` are those of AllenNLP 2.10 (0.9's are called alike), `ElmoEmbedder` that of 0.9,
the last version that had it. State is carried from call to call by batch row, as there; `reset_states()` forgets it.
`ElmoEmbedder` gives arrays, and needs torch for a GPU and for tensors alone.
"""

from typing import TYPE_CHECKING

from elmo.compat.allennlp.characters import ELMoCharacterMapper, batch_to_ids
from elmo.compat.allennlp.embedder import ElmoEmbedder
from elmo.compat.allennlp.files import DEFAULT_OPTIONS_FILE, DEFAULT_WEIGHT_FILE
from elmo.errors import ConfigError as ConfigurationError
from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.compat.allennlp.bilm import _ElmoBiLm
    from elmo.compat.allennlp.mixing import ScalarMix
    from elmo.compat.allennlp.module import Elmo

__all__ = [
    "DEFAULT_OPTIONS_FILE",
    "DEFAULT_WEIGHT_FILE",
    "ConfigurationError",
    "ELMoCharacterMapper",
    "Elmo",
    "ElmoEmbedder",
    "ScalarMix",
    "_ElmoBiLm",
    "batch_to_ids",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Elmo": "elmo.compat.allennlp.module",
        "ScalarMix": "elmo.compat.allennlp.mixing",
        "_ElmoBiLm": "elmo.compat.allennlp.bilm",
    },
)
