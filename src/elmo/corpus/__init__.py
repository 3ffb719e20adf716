"""The corpus store: text files once turned into numbers, for training to read. Knows no torch.

`build_corpus` makes one, `CorpusStore.open` reads it; `layout` says what is in it.
"""

from elmo.corpus.bar import Moment
from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore, SplitCounts

__all__ = ["CorpusStore", "Moment", "SplitCounts", "build_corpus"]
