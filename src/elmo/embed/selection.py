"""What is taken of a batch's layers: which of them, the tokens of each sentence, texts joined from sentences, pooling.

L layers, N sentences, T positions with boundaries, D size of a vector.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.choices import Layers, Pooling
from elmo.errors import ConfigError
from elmo.ops.arrays import Array, host

Vectors = npt.NDArray[np.float32]
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


def sentence_vectors(chosen: Array, ends: Sequence[int], *, dtype: str) -> list[npt.NDArray[Any]]:
    """[.., N, T, D] -> [.., T, D] of each sentence, without its boundaries, on the host in `dtype`."""
    if not isinstance(chosen, np.ndarray):
        if chosen.is_cuda and dtype == "float32":
            return _vectors_from_gpu(chosen, ends)
        chosen = host(chosen)
    return [chosen[..., n, 1:end, :].astype(dtype) for n, end in enumerate(ends)]


def _vectors_from_gpu(chosen: Array, ends: Sequence[int]) -> list[npt.NDArray[Any]]:
    """The same on the host: only what is wanted crosses, through memory that the device can write to directly."""
    import torch

    from elmo.ops.device import to_device

    T = chosen.shape[-2]
    index = torch.cat([torch.arange(n * T + 1, n * T + end) for n, end in enumerate(ends)])
    wanted = chosen.flatten(-3, -2).index_select(-2, to_device(index, chosen.device)).float()  # [.., tokens, D]
    pinned = torch.empty(wanted.shape, dtype=wanted.dtype, pin_memory=True).copy_(wanted).numpy()
    borders = np.cumsum([end - 1 for end in ends])[:-1]
    return [rows.copy() for rows in np.split(pinned, borders, axis=-2)]


def join_pieces(counts: Sequence[int], vectors: Sequence[Vectors]) -> list[Vectors]:
    """Vectors of pieces (sentences), one behind the other for each text; `counts` says how many pieces each has."""
    results, start = [], 0
    for count in counts:
        pieces = vectors[start : start + count]
        start += count
        results.append(pieces[0] if count == 1 else np.concatenate(pieces, axis=-2))
    return results


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
