"""Memory mapped from a file, given back when its numbers have been copied elsewhere. Nothing is lost by it."""

import ctypes
import mmap
import sys

from torch import Tensor

MADV_PAGEOUT = 21  # Linux 5.4; pages that were written to stay, so that even those are safe


def release_pages(tensor: Tensor) -> None:
    """Tell Linux that the pages of `tensor` will not be needed soon; elsewhere nothing happens."""
    if not sys.platform.startswith("linux") or tensor.device.type != "cpu":
        return
    begin = -(-tensor.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (tensor.data_ptr() + tensor.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if begin < end:
        # A kernel that does not know the advice says so in the return value, and all stays as it was.
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_PAGEOUT)
