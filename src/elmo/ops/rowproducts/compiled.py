"""Products of stored rows with vectors by the compiled CPU kernels: rows are read once, at the speed of memory."""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.library import cpu_library
from elmo.ops.cpu.threads import CPU_THREADS

Floats = npt.NDArray[np.float32]


def compiled_products(rows: npt.NDArray[Any], vectors: Floats, *, scales: Floats | None) -> Floats:
    """As `row_products`; ask `kernels_run` first."""
    library = cpu_library()
    assert library is not None
    assert rows.dtype in (np.float16, np.int8)
    assert rows.flags.c_contiguous
    (N, D), Q = rows.shape, len(vectors)
    width = library.elmo_row_width
    width.restype = ctypes.c_int64
    padded = np.zeros((Q, width(ctypes.c_int64(D))), np.float32)
    padded[:, :D] = vectors
    products = np.empty((Q, N), np.float32)
    failed = library.elmo_row_products(
        ctypes.c_void_p(rows.ctypes.data),
        ctypes.c_int64(rows.dtype == np.int8),
        ctypes.c_int64(N),
        ctypes.c_int64(D),
        ctypes.c_void_p(padded.ctypes.data),
        ctypes.c_int64(Q),
        ctypes.c_void_p(products.ctypes.data),
        ctypes.c_int64(CPU_THREADS.count if N * D > 1 << 16 else 1),
    )
    if failed:
        raise MemoryError("out of memory in row products")
    if scales is not None:
        products *= scales
    return products
