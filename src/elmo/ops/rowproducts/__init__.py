"""Products of many stored rows with a few vectors: the one function that everything else calls.

Rows are float16, or int8 with a float32 scale each, as they lie on disk; they are never copied as a whole. With the
compiled CPU kernels they are read at the speed of memory, without them in blocks by NumPy.
N rows, Q vectors, D dimensions.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.kernels import kernels_run
from elmo.ops.rowproducts.blocked import blocked_products
from elmo.ops.rowproducts.compiled import compiled_products

Floats = npt.NDArray[np.float32]


def row_products(rows: npt.NDArray[Any], vectors: Floats, *, scales: Floats | None = None) -> Floats:
    """Each of Q vectors [Q, D] times each of N rows [N, D], which lie one behind the other: [Q, N]."""
    products = compiled_products if kernels_run() else blocked_products
    return products(rows, vectors, scales=scales)
