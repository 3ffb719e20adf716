"""`VectorFile`: a file of vectors as a sequence of lines, each read when it is asked for."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from elmo.errors import InputError

Array = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class VectorLine:
    """One line of the text that was embedded, as its file has it.

    `vectors` is [T, D], or [L, T, D] for all layers; pooled, it is [D] or [L, D]. `sentence_starts` are the numbers of
    the first tokens of the line's sentences. `text` is None in formats that do not keep it (HDF5, npz),
    and `file` where one file was embedded. `line` is the number within `file`, from 0.
    """

    number: int
    text: str | None
    file: str | None
    line: int
    tokens: list[str]
    sentence_starts: list[int]
    vectors: Array


class VectorFile(Sequence[VectorLine], ABC):
    """Lines by number, slices of them, and the vectors of tokens counted through all lines. Close it, or use `with`.

    `pooled`: a line has one vector (of each layer) instead of one a token.
    """

    path: Path
    pooled: bool

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _line(self, number: int) -> VectorLine:
        """Line `number`, which is there."""

    @abstractmethod
    def _token_counts(self) -> list[int]:
        """How many rows of vectors each line has: its tokens, or 1 where they are pooled."""

    def close(self) -> None:
        """Give the file back. Arrays that were read stay valid."""

    @overload
    def __getitem__(self, place: int) -> VectorLine: ...

    @overload
    def __getitem__(self, place: slice) -> list[VectorLine]: ...

    def __getitem__(self, place: int | slice) -> VectorLine | list[VectorLine]:
        if isinstance(place, slice):
            return [self._line(number) for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path}: line {place} is asked for, but there are {len(self)}")
        return self._line(number)

    def __iter__(self) -> Iterator[VectorLine]:
        return map(self._line, range(len(self)))

    @cached_property
    def line_starts(self) -> npt.NDArray[np.int64]:
        """Where each line begins among the tokens of all lines, and at last how many there are: [lines + 1]."""
        return np.fromiter(accumulate(self._token_counts(), initial=0), np.int64)

    def token_vectors(self, start: int, stop: int) -> Array:
        """Vectors of tokens, counted through all lines: [tokens, D], or [tokens, L, D] for all layers.

        Where vectors are pooled, lines take the place of tokens.
        """
        total = int(self.line_starts[-1])
        if not 0 <= start <= stop <= total:
            raise IndexError(f"{self.path}: tokens {start} to {stop} are asked for, but there are {total}")
        return self._token_vectors(start, stop)

    def _token_vectors(self, start: int, stop: int) -> Array:
        first = int(np.searchsorted(self.line_starts, start, side="right")) - 1
        last = int(np.searchsorted(self.line_starts, stop, side="left"))
        pieces = [self._rows(line.vectors) for line in self[first : max(last, first + 1)]]
        shift = int(self.line_starts[first])
        try:
            return np.concatenate(pieces)[start - shift : stop - shift]
        except ValueError:
            raise InputError(f"{self.path}: its lines do not have vectors of one size; it is damaged") from None

    def _rows(self, vectors: Array) -> Array:
        """The vectors of a line as rows: one a token, or one for the line."""
        if self.pooled:
            return vectors[np.newaxis]
        return np.moveaxis(vectors, -2, 0) if vectors.ndim > 1 else vectors

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
