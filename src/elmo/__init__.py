"""Deep contextualized word representations (ELMo): embed text, pretrain, fine-tune, use in task models."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.embed.bulk.readers.reading import read_vectors
    from elmo.embed.embedder import Embedder
    from elmo.embed.loading import load
    from elmo.embed.module import Elmo, ElmoOutput
    from elmo.errors import ElmoError
    from elmo.model.mix import ScalarMix
    from elmo.text.tokenizer import Tokenizer
    from elmo.text.vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "Elmo",
    "ElmoError",
    "ElmoOutput",
    "Embedder",
    "ScalarMix",
    "Tokenizer",
    "Vocabulary",
    "__version__",
    "load",
    "read_vectors",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Elmo": "elmo.embed.module",
        "ElmoError": "elmo.errors",
        "ElmoOutput": "elmo.embed.module",
        "Embedder": "elmo.embed.embedder",
        "ScalarMix": "elmo.model.mix",
        "Tokenizer": "elmo.text.tokenizer",
        "Vocabulary": "elmo.text.vocabulary",
        "load": "elmo.embed.loading",
        "read_vectors": "elmo.embed.bulk.readers.reading",
    },
)
