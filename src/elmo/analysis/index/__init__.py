"""A word-in-context index: the token vectors of a corpus on disk, searched exactly, and all uses of a word at once.

index = build_index(elmo.load(), ["texts/"], "my-index", layers="all")  # or open_index("my-index")
uses = index.uses("bank")                     # sentences, places, files and lines, vectors of each layer
for found in index.search(vector, layer="top", count=20, words="same", word="bank"):
    print(found.similarity, found.marked)     # a `Neighbor`
"""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.analysis.index.build import build_index
    from elmo.analysis.index.layout import IndexManifest
    from elmo.analysis.index.questions import answer_from_index
    from elmo.analysis.index.wordindex import WordIndex, WordUses, open_index

__all__ = ["IndexManifest", "WordIndex", "WordUses", "answer_from_index", "build_index", "open_index"]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "IndexManifest": "elmo.analysis.index.layout",
        "WordIndex": "elmo.analysis.index.wordindex",
        "WordUses": "elmo.analysis.index.wordindex",
        "answer_from_index": "elmo.analysis.index.questions",
        "build_index": "elmo.analysis.index.build",
        "open_index": "elmo.analysis.index.wordindex",
    },
)
