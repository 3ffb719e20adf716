"""What is taken of layers and vectors: which of the layers, one vector for a text, vectors of length 1."""

from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.choices import Layers, Pooling
from elmo.errors import ConfigError
from elmo.ops.arrays import Array

Vectors = npt.NDArray[np.floating[Any]]
SHORTEST = 1e-12  # a length to divide by


def check_layers(layers: Layers, count: int) -> None:
    """Refuse a choice of layers that a model of `count` layers does not have."""
    if layers in ("mean", "top", "all"):
        return
    if isinstance(layers, bool) or not isinstance(layers, int) or not -count <= layers < count:
        raise ConfigError(
            f"layers is {layers!r}; it must be 'mean', 'top', 'all' or a number from 0 to {count - 1} "
            f"(or, from the top, -1 to -{count})"
        )


def select_layers(stacked: Array, layers: Layers) -> Array:
    """[L, ...] to the chosen layer, the mean, or all of them."""
    if layers == "all":
        return stacked
    if layers == "mean":
        return stacked.mean(0)
    return stacked[-1 if layers == "top" else layers]


def pool(vectors: Vectors, pooling: Pooling) -> Vectors:
    """The mean or maximum over tokens, zeros where there are none: [.., T, D] -> [.., D]."""
    if vectors.shape[-2] == 0:
        return np.zeros((*vectors.shape[:-2], vectors.shape[-1]), vectors.dtype)
    pooled = vectors.mean(-2, dtype=np.float64) if pooling == "mean" else vectors.max(-2)
    result: Vectors = pooled.astype(vectors.dtype, copy=False)
    return result


def normalized(vectors: Vectors) -> Vectors:
    """Each vector over its length; one of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Vectors = vectors / np.maximum(lengths, SHORTEST).astype(vectors.dtype)
    return result
