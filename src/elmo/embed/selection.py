"""What is taken of a batch's layers: which of them, the tokens of each sentence, texts joined from sentences, pooling.

L layers, N sentences, T positions with boundaries, D size of a vector.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo.embed.choices import Layers, Pooling
from elmo.errors import ConfigError
from elmo.ops.device import to_device


def check_layers(layers: Layers, count: int) -> None:
    """Refuse a choice of layers that a model of `count` layers does not have."""
    if layers in ("mean", "top", "all"):
        return
    if isinstance(layers, bool) or not isinstance(layers, int) or not -count <= layers < count:
        raise ConfigError(
            f"layers is {layers!r}; it must be 'mean', 'top', 'all' or a number from 0 to {count - 1} "
            f"(or, from the top, -1 to -{count})"
        )


def select_layers(stacked: Tensor, layers: Layers) -> Tensor:
    """[L, ...] to the chosen layer, the mean, or all of them."""
    if layers == "all":
        return stacked
    if layers == "mean":
        return stacked.mean(0)
    return stacked[-1 if layers == "top" else layers]


def sentence_vectors(chosen: Tensor, ends: Sequence[int]) -> list[Tensor]:
    """[.., N, T, D] -> float32 [.., T, D] of each sentence, without its boundaries."""
    if chosen.is_cuda:
        return _vectors_from_gpu(chosen, ends)
    chosen = chosen.float()
    return [chosen[..., n, 1:end, :].clone() for n, end in enumerate(ends)]


def _vectors_from_gpu(chosen: Tensor, ends: Sequence[int]) -> list[Tensor]:
    """The same on the host: only what is wanted crosses, through memory that the device can write to directly."""
    T = chosen.shape[-2]
    index = torch.cat([torch.arange(n * T + 1, n * T + end) for n, end in enumerate(ends)])
    wanted = chosen.flatten(-3, -2).index_select(-2, to_device(index, chosen.device)).float()  # [.., tokens, D]
    host = torch.empty(wanted.shape, dtype=wanted.dtype, pin_memory=True).copy_(wanted)
    return [rows.clone() for rows in host.split([end - 1 for end in ends], dim=-2)]


def join_pieces(counts: Sequence[int], vectors: Sequence[Tensor]) -> list[Tensor]:
    """Vectors of pieces (sentences), one behind the other for each text; `counts` says how many pieces each has."""
    results, start = [], 0
    for count in counts:
        pieces = vectors[start : start + count]
        start += count
        results.append(pieces[0] if count == 1 else torch.cat(list(pieces), dim=-2))
    return results


def pool(vectors: Tensor, pooling: Pooling) -> Tensor:
    """The mean or maximum over tokens, zeros where there are none: [.., T, D] -> [.., D]."""
    if vectors.shape[-2] == 0:
        return vectors.new_zeros(*vectors.shape[:-2], vectors.shape[-1])
    return vectors.mean(-2) if pooling == "mean" else vectors.amax(-2)
