"""Text to vectors: the embedder, the module for task models, batching, caches, output files. No training here."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.embed.bulk.job import BulkResult, embed_file
    from elmo.embed.bulk.options import BulkOptions
    from elmo.embed.bulk.readers.reading import read_vectors
    from elmo.embed.bulk.readers.vectorfile import VectorFile, VectorLine
    from elmo.embed.embedder import Embedder
    from elmo.embed.loading import load
    from elmo.embed.module import Elmo, ElmoOutput

__all__ = [
    "BulkOptions",
    "BulkResult",
    "Elmo",
    "ElmoOutput",
    "Embedder",
    "VectorFile",
    "VectorLine",
    "embed_file",
    "load",
    "read_vectors",
]

# Loaded on first use, so that the command line can name choices without waiting for torch.
_HOMES = {
    "BulkOptions": "elmo.embed.bulk.options",
    "BulkResult": "elmo.embed.bulk.job",
    "Elmo": "elmo.embed.module",
    "ElmoOutput": "elmo.embed.module",
    "Embedder": "elmo.embed.embedder",
    "VectorFile": "elmo.embed.bulk.readers.vectorfile",
    "VectorLine": "elmo.embed.bulk.readers.vectorfile",
    "embed_file": "elmo.embed.bulk.job",
    "load": "elmo.embed.loading",
    "read_vectors": "elmo.embed.bulk.readers.reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
