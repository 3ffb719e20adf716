"""Some lines with their vectors as columns, which writers of tables take as they are; others take them row by row."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.bulk.writers.row import Line, Row
from elmo.embed.numbered import Integers

# Rows that are written together end at either bound.
ROWS_IN_GROUP = 16_384
BYTES_IN_GROUP = 32 << 20


@dataclass(frozen=True, kw_only=True)
class EmbeddedPart:
    """Consecutive lines. L layers, T tokens of all lines, D size of a vector.

    `vectors` is [T, D], or [L, T, D] for all layers; pooled [lines, D] or [lines, L, D].
    """

    lines: list[Line]
    words: list[str]  # distinct
    ids: npt.NDArray[np.int32]  # [T], numbers of words
    first_tokens: Integers  # [lines + 1], of each line, and T
    sentence_starts: Integers  # the first token of each sentence that has one
    first_sentences: Integers  # [lines + 1], of each line in `sentence_starts`
    pooled: bool
    vectors: npt.NDArray[np.floating[Any]]

    def __len__(self) -> int:
        return len(self.lines)

    def rows(self) -> Iterator[Row]:
        """Line by line."""
        words = [self.words[number] for number in self.ids.tolist()]
        starts, tokens = self.sentence_starts.tolist(), self.first_tokens.tolist()
        sentences = self.first_sentences.tolist()
        for n, line in enumerate(self.lines):
            first, last = tokens[n], tokens[n + 1]
            yield Row(
                number=line.number,
                text=line.text,
                file=line.file,
                line=line.line,
                tokens=words[first:last],
                sentence_starts=[start - first for start in starts[sentences[n] : sentences[n + 1]]],
                vectors=self.vectors[n] if self.pooled else self.vectors[..., first:last, :],
            )

    def groups(self) -> Iterator["EmbeddedPart"]:
        """The same lines, some at a time."""
        sizes = np.diff(self.first_tokens) if not self.pooled else np.ones(len(self), np.int64)
        whole = self.vectors.shape[0] if self.pooled else self.vectors.shape[-2]
        ends = np.cumsum(sizes * (self.vectors.nbytes // max(1, whole)))
        start = 0
        while start < len(self):
            before = ends[start - 1] if start else 0
            full = int(np.searchsorted(ends, before + BYTES_IN_GROUP)) + 1
            stop = min(full, start + ROWS_IN_GROUP, len(self))
            yield self.cut(start, stop)
            start = stop

    def cut(self, start: int, stop: int) -> "EmbeddedPart":
        """Lines `start` to `stop`, without a copy."""
        if (start, stop) == (0, len(self)):
            return self
        first, last = int(self.first_tokens[start]), int(self.first_tokens[stop])
        sentence, after = int(self.first_sentences[start]), int(self.first_sentences[stop])
        return replace(
            self,
            lines=self.lines[start:stop],
            ids=self.ids[first:last],
            first_tokens=self.first_tokens[start : stop + 1] - first,
            sentence_starts=self.sentence_starts[sentence:after] - first,
            first_sentences=self.first_sentences[start : stop + 1] - sentence,
            vectors=self.vectors[start:stop] if self.pooled else self.vectors[..., first:last, :],
        )
