"""bilm-tf's inference: the same names and numbers, arrays instead of placeholders and sessions.

What `sess.run(ops[...], feed_dict={placeholder: ids})` gave is what calling the model on `ids` gives. State is carried
from call to call by batch row, as in a session; `reset_states()` is what running the initializer again was.
"""

from typing import TYPE_CHECKING, Any

from elmo.compat.bilm.batchers import Batcher, TokenBatcher
from elmo.compat.bilm.dumps import dump_bilm_embeddings, dump_token_embeddings
from elmo.compat.bilm.model import BidirectionalLanguageModel
from elmo.compat.bilm.vocabulary import UnicodeCharsVocabulary, Vocabulary
from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.compat.bilm.mixing import reset_variables, trainable_variables, weight_layers

__all__ = [
    "Batcher",
    "BidirectionalLanguageModel",
    "TokenBatcher",
    "UnicodeCharsVocabulary",
    "Vocabulary",
    "dump_bilm_embeddings",
    "dump_token_embeddings",
    "reset_variables",
    "trainable_variables",
    "weight_layers",
]

_OF_TORCH = ("reset_variables", "trainable_variables", "weight_layers")  # what learns


def __getattr__(name: str) -> Any:
    if name not in _OF_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported("elmo.compat.bilm.mixing", name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_OF_TORCH])
