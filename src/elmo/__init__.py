"""Deep contextualized word representations (ELMo): embed text, pretrain, fine-tune, use in task models."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

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

# Loaded on first use, so that `import elmo` and `elmo --help` do not wait for torch.
_HOMES = {
    "Elmo": "elmo.embed.module",
    "ElmoError": "elmo.errors",
    "ElmoOutput": "elmo.embed.module",
    "Embedder": "elmo.embed.embedder",
    "ScalarMix": "elmo.model.mix",
    "Tokenizer": "elmo.text.tokenizer",
    "Vocabulary": "elmo.text.vocabulary",
    "load": "elmo.embed.loading",
    "read_vectors": "elmo.embed.bulk.readers.reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'elmo' has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
