"""Where the packed weights of a model are kept, for large ones alone; small ones are packed in no time.

A file belongs to one weights file as it is now (place, size, time of writing), one precision, and one build of the
kernels, which stands for the processor. The files used longest ago make room.
"""

import contextlib
import hashlib
import logging
import os
import time
from pathlib import Path

from elmo.disk.bounded import remove_oldest
from elmo.disk.cachefolder import cache_directory, why_not_private
from elmo.ops.cpu.library import cpu_library_name
from elmo.weights.native import WEIGHTS

logger = logging.getLogger(__name__)

FOLDER, SUFFIX = "packed", ".packed"
FROM_BYTES = 64 << 20  # of the weights file
MOST_BYTES = 4 << 30  # of all packed files
ABANDONED_SECONDS = 3600.0


def packed_path(directory: Path, *, products: str) -> Path | None:
    """The file for a native model directory, which may not be there yet; None where none is wanted."""
    library = cpu_library_name()
    if library is None:
        return None
    weights = (directory / WEIGHTS).resolve()
    if not weights.is_file():
        return None  # reading the model says what is wrong
    facts = weights.stat()
    if facts.st_size < FROM_BYTES:
        return None
    known = (str(weights), facts.st_size, facts.st_mtime_ns, facts.st_ino, products, library)
    folder = cache_directory() / FOLDER
    if not _is_safe(folder):
        return None
    path = folder / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:32]}{SUFFIX}"
    if path.is_file():
        with contextlib.suppress(OSError):
            os.utime(path)  # used now: the last to be removed
    else:
        _make_room(path.parent, MOST_BYTES - facts.st_size)
    return path


def _is_safe(folder: Path) -> bool:
    """Whether nobody else can put weights there; a folder that is not there yet is made so."""
    try:
        fault = why_not_private(folder)
    except OSError:
        return True
    if fault is not None:
        logger.warning("%s: %s, so packed weights are neither taken from there nor kept", folder, fault)
    return fault is None


def _make_room(folder: Path, most_bytes: int) -> None:
    with contextlib.suppress(OSError):
        for path in folder.glob(f".*{SUFFIX}.*"):  # what a killed process was writing
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()
    remove_oldest(folder.glob(f"*{SUFFIX}"), most_bytes=most_bytes)
