"""A word-in-context index: the token vectors of a corpus on disk, searched exactly, and all uses of a word at once.

index = build_index(elmo.load(), ["texts/"], "my-index", layers="all")  # or open_index("my-index")
uses = index.uses("bank")                     # sentences, places, files and lines, vectors of each layer
for found in index.search(vector, layer="top", count=20, words="same", word="bank"):
    print(found.similarity, found.marked)     # a `Neighbor`
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmo.analysis.index.build import build_index
    from elmo.analysis.index.layout import IndexManifest
    from elmo.analysis.index.questions import answer_from_index
    from elmo.analysis.index.wordindex import WordIndex, WordUses, open_index

__all__ = ["IndexManifest", "WordIndex", "WordUses", "answer_from_index", "build_index", "open_index"]

# Loaded on first use, so that who needs one of them does not wait for the libraries of the others.
_HOMES = {
    "IndexManifest": "elmo.analysis.index.layout",
    "WordIndex": "elmo.analysis.index.wordindex",
    "WordUses": "elmo.analysis.index.wordindex",
    "answer_from_index": "elmo.analysis.index.questions",
    "build_index": "elmo.analysis.index.build",
    "open_index": "elmo.analysis.index.wordindex",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
