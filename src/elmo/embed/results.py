"""The vectors of a call: one large array, filled batch by batch in any order, of which a text's vectors are a view.

L layers (1 where one is chosen or mixed), N sentences, T positions with boundaries, D size of a vector.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.numbered import Integers, running_total

Vectors = npt.NDArray[np.floating[Any]]


class Results:
    """Vectors [T, D] or, for all layers, [L, T, D] of each text, which has so many sentences as `texts` says.

    The layers of a text stand one behind the other, so that its array is a contiguous piece of `rows`, [.., D].
    """

    def __init__(
        self,
        lengths: Integers,
        *,
        texts: Integers | None,
        layers: int | None,
        dim: int,
        dtype: str | np.dtype[Any],
        empty: Callable[[tuple[int, int], Any], Vectors] = np.empty,
    ) -> None:
        """`empty` gives the memory for all vectors."""
        self._lengths = lengths
        self._layers = layers
        self._dim = dim
        counts = np.ones(len(lengths), dtype=np.int64) if texts is None else texts
        starts = running_total(lengths)
        borders = starts[running_total(counts)]  # of texts, in tokens
        self._borders = borders
        self._text_of = np.repeat(np.arange(len(counts)), counts)  # [sentences]
        self._inside = starts[:-1] - borders[self._text_of]  # where a sentence begins in its text
        self.rows: Vectors = empty(((layers or 1) * int(starts[-1]), dim), dtype)

    def __len__(self) -> int:
        return len(self._borders) - 1

    def of_text(self, number: int) -> Vectors:
        """The vectors of a text: a view."""
        L = self._layers or 1
        start, stop = int(self._borders[number]), int(self._borders[number + 1])
        block = self.rows[L * start : L * stop]
        return block if self._layers is None else block.reshape(L, stop - start, self._dim)

    def of_sentence(self, number: int) -> Vectors:
        """The vectors of a sentence: a view."""
        first = int(self._inside[number])
        return self.of_text(int(self._text_of[number]))[..., first : first + int(self._lengths[number]), :]

    def places(self, sentences: Integers) -> Integers:
        """Where the vectors of some sentences belong in `rows`: first layer of all of them, then the next one."""
        L = self._layers or 1
        lengths, texts = self._lengths[sentences], self._text_of[sentences]
        start = self._borders[texts]
        width = self._borders[texts + 1] - start
        before = np.cumsum(lengths) - lengths
        first = np.repeat(L * start + self._inside[sentences] - before, lengths) + np.arange(int(lengths.sum()))
        return np.concatenate([first + layer * np.repeat(width, lengths) for layer in range(L)])

    def put(self, sentences: Integers, chosen: Vectors) -> None:
        """Store a batch, [.., N, T, D] on the host, without its boundaries."""
        for n, sentence in enumerate(sentences.tolist()):
            end = int(self._lengths[sentence]) + 1
            self.of_sentence(sentence)[...] = chosen[..., n, 1:end, :]
