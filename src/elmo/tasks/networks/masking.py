"""Positions that do not count: what stands in for their scores, and sums that leave them out.

A mask is true where a position counts, and broadcasts against what it masks.
"""

import torch
from torch import Tensor


def lowest(x: Tensor) -> float:
    """A number below all others of x's type, for positions that do not count."""
    return float(torch.finfo(x.dtype).min)


def masked_softmax(scores: Tensor, mask: Tensor, *, dim: int) -> Tensor:
    """Softmax in float32 over the positions that count, in the scores' type; even where none of them does."""
    wide = scores.float()
    return torch.softmax(wide.masked_fill(~mask, lowest(wide)), dim=dim).to(scores.dtype)


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens that count: x [N, T, D], mask [N, T] -> [N, D]."""
    return x.masked_fill(~mask[:, :, None], 0.0).sum(1) / mask.sum(1, keepdim=True)


def masked_max(x: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each number over the tokens that count: x [N, T, D], mask [N, T] -> [N, D]."""
    return x.masked_fill(~mask[:, :, None], lowest(x)).amax(1)
