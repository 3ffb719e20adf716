"""Text to vectors: the embedder, the module for task models, batching, caches, output files. No training here."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

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

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
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
    },
)
