"""Names under which things are written before they are whole, and the removal of those that a killed writer has left.

A writer holds a lock on its temporary, which the system frees however the writer ends: one whose lock is free is
abandoned. Where there are no such locks (Windows, some network disks) nothing is ever taken for abandoned.
"""

import contextlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

NAME = re.compile(r"\..+\.tmp-[0-9a-f]{12}")


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file beside `target`, and its name; the block renames it, or it vanishes."""
    while True:
        temporary = _name(target)
        # Not from `tempfile`, whose files only their owner may read.
        with open(temporary, "xb") as file, _held(temporary) as mine:
            if not mine:
                continue
            try:
                yield temporary, file
            finally:
                temporary.unlink(missing_ok=True)
            return


@contextmanager
def temporary_directory(target: Path) -> Iterator[Path]:
    """A new directory beside `target`; the block renames it, or it vanishes."""
    while True:
        temporary = _name(target)
        temporary.mkdir()
        with _held(temporary) as mine:
            if not mine:
                continue
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            return


def remove_abandoned(folder: Path) -> None:
    """Remove the temporaries in a folder (not in those below it) whose writers are gone."""
    if sys.platform == "win32" or not folder.is_dir():
        return
    for path in folder.iterdir():
        if not NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):  # held, removed by another process, or not ours to open
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe would wait for a writer
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def remove_directory(path: Path) -> None:
    """Remove a directory so that it is there or not: half removed it has a temporary's name."""
    gone = _name(path)
    with contextlib.suppress(OSError):
        os.rename(path, gone)
        shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def _held(temporary: Path) -> Iterator[bool]:
    """Hold the lock of a new temporary; whether it is still there then: it was not locked when it was made."""
    if sys.platform == "win32":
        yield True
        return
    descriptor = -1
    try:
        with contextlib.suppress(OSError):  # no locks here; or it is gone already
            descriptor = os.open(temporary, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield temporary.exists()
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _name(target: Path) -> Path:
    return target.with_name(f".{target.name}.tmp-{secrets.token_hex(6)}")
