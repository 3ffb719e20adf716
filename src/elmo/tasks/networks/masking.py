"""Positions that do not count: what stands in for their scores."""

import torch
from torch import Tensor


def lowest(x: Tensor) -> float:
    """A number below all others of x's type, for positions that do not count."""
    return float(torch.finfo(x.dtype).min)
