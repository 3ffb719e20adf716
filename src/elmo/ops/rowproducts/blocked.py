"""Products of stored rows with vectors in plain torch: a block of rows at a time becomes float32, in one buffer."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

ROWS_AT_ONCE = 1024  # their float32 numbers stay in a processor's cache

Floats = npt.NDArray[np.float32]


def blocked_products(rows: npt.NDArray[Any], vectors: Floats, *, scales: Floats | None) -> Floats:
    """As `row_products`."""
    N, D = rows.shape
    products = np.empty((len(vectors), N), np.float32)
    out, wanted = torch.from_numpy(products), torch.from_numpy(np.ascontiguousarray(vectors.T))  # [Q, N], [D, Q]
    buffer = torch.empty(min(N, ROWS_AT_ONCE), D)
    for start in range(0, N, ROWS_AT_ONCE):
        block = np.array(rows[start : start + ROWS_AT_ONCE])  # a copy: torch takes no array that is read only
        numbers = buffer[: len(block)]
        numbers.copy_(torch.from_numpy(block))
        out[:, start : start + len(block)] = (numbers @ wanted).T
    if scales is not None:
        products *= scales
    return products
