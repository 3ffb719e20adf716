"""bilm-tf's inference: the same names and numbers, arrays instead of placeholders and sessions.

What `sess.run(ops[...], feed_dict={placeholder: ids})` gave is what calling the model on `ids` gives. State is carried
from call to call by batch row, as in a session; `reset_states()` is what running the initializer again was.
"""

from typing import TYPE_CHECKING

from elmo.compat.bilm.batchers import Batcher, TokenBatcher
from elmo.compat.bilm.dumps import dump_bilm_embeddings, dump_token_embeddings
from elmo.compat.bilm.model import BidirectionalLanguageModel
from elmo.compat.bilm.vocabulary import UnicodeCharsVocabulary, Vocabulary
from elmo.lazy import loaded_on_use

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

__getattr__, __dir__ = loaded_on_use(
    __name__, dict.fromkeys(("reset_variables", "trainable_variables", "weight_layers"), "elmo.compat.bilm.mixing")
)
