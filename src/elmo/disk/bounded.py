"""Folders of files that can be made again, kept below a size."""

import contextlib
from collections.abc import Iterable
from pathlib import Path


def remove_oldest(files: Iterable[Path], *, most_bytes: int) -> list[Path]:
    """Remove the files used longest ago until the others have at most so many bytes; says which.

    Another process may do the same: a file that is gone is gone, and one that cannot be removed stays.
    """
    found = []
    for path in files:
        with contextlib.suppress(OSError):
            facts = path.stat()
            found.append((facts.st_mtime, facts.st_size, path))
    held, removed = sum(size for _, size, _ in found), []
    for _, size, path in sorted(found):
        if held <= most_bytes:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            removed.append(path)
            held -= size
    return removed
