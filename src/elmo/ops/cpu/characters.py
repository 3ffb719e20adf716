"""The weights of a character encoder as the CPU's versions take them: convolutions, highways and a projection.

E character embedding, F filters in all, D output, W words, C characters in a row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]


class HighwayWeights(NamedTuple):
    """One highway layer; see `ops.highway`."""

    carry: Numbers  # [F, F]
    carry_bias: Numbers  # [F]
    transform: Numbers
    transform_bias: Numbers


@dataclass(frozen=True, kw_only=True)
class CharWeights:
    """What turns rows of character ids into vectors; see `ops.charconv`."""

    table: Numbers  # [characters, E]
    filters: Sequence[Numbers]  # [width, E, count] each
    biases: Sequence[Numbers]  # [count] each
    characters: int  # C
    padding_id: int
    activation: str  # "relu" or "tanh"
    highways: Sequence[HighwayWeights]
    projection: tuple[Numbers, Numbers] | None  # [F, D] and [D]

    def cast(self, numbers: Callable[[Numbers], Numbers]) -> Self:
        """The same weights, each as `numbers` makes it."""
        return replace(
            self,
            table=numbers(self.table),
            filters=list(map(numbers, self.filters)),
            biases=list(map(numbers, self.biases)),
            highways=[HighwayWeights(*map(numbers, layer)) for layer in self.highways],
            projection=None if self.projection is None else (numbers(self.projection[0]), numbers(self.projection[1])),
        )


def check_rows(rows: npt.NDArray[np.integer[Any]], *, characters: int, table: int) -> npt.NDArray[np.int64]:
    """Rows [W, C] of ids of a table, as the kernels read them; others would be read from anywhere in memory."""
    if rows.shape[1] != characters:
        raise ValueError(f"rows have {rows.shape[1]} characters, but {characters} are wanted")
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < table:
        raise IndexError(f"a character id is outside 0..{table - 1}")
    return np.ascontiguousarray(rows, dtype=np.int64)
