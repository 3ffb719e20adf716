"""What the C library does with freed memory: it keeps it for the next large tensor instead of giving it back.

A training step or an evaluation on a CPU makes and frees the same large tensors again and again. glibc maps each one
anew, and the system fills every page with zeros first: two fifths of the processor time of a step were page faults.
"""

import ctypes
import functools
import logging
import sys

logger = logging.getLogger(__name__)

# Parameters of mallopt, and values that an int can hold. [glibc, malloc.h]
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
LARGEST_FROM_HEAP = 1 << 30
HEAP_STEP = 64 << 20
NEVER = -1


@functools.cache
def keep_freed_memory() -> bool:
    """From now on this process keeps what it frees; whether the platform can do so. Numbers are the same either way."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # a C library other than glibc
        return False
    wanted = ((M_MMAP_THRESHOLD, LARGEST_FROM_HEAP), (M_TRIM_THRESHOLD, NEVER), (M_TOP_PAD, HEAP_STEP))
    done = all(mallopt(ctypes.c_int(name), ctypes.c_int(value)) == 1 for name, value in wanted)
    logger.debug("freed memory is %s", "kept" if done else "given back to the system")
    return done
