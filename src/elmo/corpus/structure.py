"""Sentences and documents of the whole text, and to which split they belong. Knows lengths, not words.

S sentences of the text.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elmo.corpus.firstpass import ReadText
from elmo.corpus.layout import Split
from elmo.corpus.options import BuildOptions
from elmo.corpus.split import Bools, choose_heldout


@dataclass(frozen=True, eq=False)
class Structure:
    """What each sentence of the text is, in order."""

    lengths: npt.NDArray[np.uint32]  # [S]: in words
    starts: Bools  # [S]: a document starts with this sentence
    heldout: Bools  # [S]

    def members(self, split: Split) -> Bools:
        """Whether each sentence belongs to a split: [S]."""
        return self.heldout if split == "heldout" else ~self.heldout

    def sentence_offsets(self, split: Split) -> npt.NDArray[np.int64]:
        """Where the sentences of a split start in its symbols, and how many symbols these are."""
        lengths = self.lengths[self.members(split)]
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        offsets += np.arange(len(offsets))  # the separators
        return offsets

    def document_offsets(self, split: Split) -> npt.NDArray[np.int64]:
        """The first sentence of each document of a split, and the number of its sentences."""
        members = self.members(split)
        # After a gap the text is not continuous: what follows counts as a document of its own.
        first = self.starts.copy()
        first[1:] |= ~members[:-1]
        first = first[members]
        return np.append(np.flatnonzero(first), len(first)).astype(np.int64)


def structure_of(text: ReadText, options: BuildOptions) -> Structure:
    """Put the sentences of all blocks together and choose those to hold out."""
    lengths = np.concatenate([block.array("lengths") for block in text.blocks])  # [S]
    starts = document_starts(text)
    if any(segment.source.heldout for segment in text.segments):
        sentences = [segment.facts.sentences for segment in text.segments]
        heldout = np.repeat([segment.source.heldout for segment in text.segments], sentences)  # [S]
    else:
        heldout = choose_heldout(
            lengths,
            np.flatnonzero(starts),
            fraction=options.heldout_fraction,
            max_tokens=options.heldout_max_tokens,
            seed=options.seed,
        )
    return Structure(lengths, starts, heldout)


def document_starts(text: ReadText) -> Bools:
    """Whether a document starts with each sentence: [S]. A file always starts one."""
    starts = np.zeros(sum(block.facts.sentences for block in text.blocks), dtype=bool)
    base = 0
    for block in text.blocks:
        starts[base + block.array("documents").astype(np.int64)] = True
        base += block.facts.sentences
    base = 0
    source = None
    pending = False  # the next sentence starts a document, whatever its own block says
    for segment in text.segments:
        pending = pending or segment.source is not source
        source = segment.source
        if segment.facts.sentences:
            starts[base] |= pending
            pending = False
        pending = pending or segment.facts.ends_document
        base += segment.facts.sentences
    return starts
