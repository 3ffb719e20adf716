"""Memory of the kernels: aligned to cache lines, and pages of a mapped file given back when they have been read."""

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64  # bytes, a cache line; numbers across two of them are read twice
MADV_PAGEOUT = 21  # Linux 5.4; pages that were written to stay, so that even those are safe


def aligned_bytes(size: int) -> npt.NDArray[np.uint8]:
    """Bytes, not set, that begin with a cache line."""
    whole = np.empty(size + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + size]


def release_pages(array: npt.NDArray[Any]) -> None:
    """Tell Linux that the pages of an array mapped from a file will not be needed soon. Nothing is lost by it."""
    if not sys.platform.startswith("linux") or not _is_mapped(array):
        return
    address = array.ctypes.data
    begin = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (address + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if begin < end:
        # A kernel that does not know the advice says so in the return value, and all stays as it was.
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_PAGEOUT)


def _is_mapped(array: object) -> bool:
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, mmap.mmap)
