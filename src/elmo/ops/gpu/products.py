"""Products on a GPU whose result may be wider than what is multiplied: as float32, it is left as it was summed.

A module of its own because torch refuses an `out_dtype` equal to the input's own type, so each call needs the choice.
"""

import torch
from torch import Tensor


def product_as(a: Tensor, b: Tensor, dtype: torch.dtype, *, out: Tensor | None = None) -> Tensor:
    """a [N, K] times b [K, M], or batches of such, left in `dtype`; written to `out` where that is given."""
    multiply = torch.mm if a.ndim == 2 else torch.bmm
    if a.dtype == dtype:
        return multiply(a, b, out=out)
    return multiply(a, b, out_dtype=dtype, out=out)
