"""A split of a corpus store as a text of vocabulary ids, for programs that estimate from text.

A line is a sentence; a word is the decimal number of its vocabulary id, so that every word outside the vocabulary
is the same ordinary word (2, `<UNK>`): one class, as in our perplexities.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from elmo.corpus.layout import Split
from elmo.corpus.store import CorpusStore
from elmo.pretrain.progress import corpus_identity

BLOCK = 50_000  # sentences at once


def folder_for(store: CorpusStore, work: Path) -> Path:
    """A folder of this store alone, so that files of another text are never taken for its own."""
    folder = work / corpus_identity(store.manifest)[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def id_lines(store: CorpusStore, split: Split, *, backward: bool = False) -> Iterator[str]:
    """Each sentence as a line of ids without its end, the words in reading order."""
    targets = np.asarray(store.type_targets)
    tokens, ends = store.symbols(split), store.sentences(split)
    names = np.array([str(n) for n in range(len(store.vocabulary))], dtype=object)
    for first in range(0, len(ends) - 1, BLOCK):
        bounds = np.asarray(ends[first : first + BLOCK + 1])
        words = names[targets[np.asarray(tokens[bounds[0] : bounds[-1]])]].tolist()
        bounds = bounds - bounds[0]
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            sentence = words[start : stop - 1]
            yield " ".join(sentence[::-1] if backward else sentence)


def write_ids(store: CorpusStore, split: Split, path: Path, *, backward: bool = False) -> None:
    """All of it as a file; one that is there is kept."""
    if path.exists():
        return
    temporary = path.with_suffix(".part")
    with open(temporary, "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in id_lines(store, split, backward=backward))
    temporary.replace(path)
