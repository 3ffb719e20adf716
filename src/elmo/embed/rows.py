"""One input line with its vectors: what writers write, whatever the format."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Row:
    """The embedding of one line. `vectors` is [T, D], [L, T, D] for all layers, or [D] / [L, D] when pooled."""

    line: int  # from 0
    text: str
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
