"""Input lines, and lines with their vectors: what writers write, whatever the format."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Line(NamedTuple):
    """One line of the input."""

    number: int  # from 0, over all files
    text: str
    file: str | None  # where it is from, if the input is several files
    line: int  # from 0, within its file


@dataclass(frozen=True, kw_only=True)
class Row:
    """The embedding of one line. `vectors` is [T, D], [L, T, D] for all layers, or [D] / [L, D] when pooled."""

    number: int  # these four as in `Line`
    text: str
    file: str | None
    line: int
    tokens: list[str]
    sentence_starts: list[int]  # the first token of each sentence of the line
    vectors: npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What all rows of a job have in common."""

    dim: int
    layers: int | None  # how many layers each row has; None for one chosen or mixed layer
    pooled: bool
    dtype: str  # "float32" or "float16"
    files: bool  # whether rows say which file they are from
