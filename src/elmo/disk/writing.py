"""Files that are either wholly there or not there at all, and errors of the disk that name the file."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from elmo.disk.temporaries import temporary_directory, temporary_file
from elmo.errors import ElmoError, UserError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to that takes the place of `path` when the block ends, and vanishes if it fails."""
    target = Path(path)
    with contextlib.ExitStack() as stack:
        try:
            temporary, file = stack.enter_context(temporary_file(target))
        except OSError as error:
            raise UserError(f"{target}: cannot be written: {error.strerror or error}") from error
        with errors_naming(target), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with errors_naming(target):
            os.replace(temporary, target)
    sync_directory(target.parent)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path for programs that open files themselves; what is written there takes the place of `path` at the end.

    It lies in a directory of its own beside `path`, which vanishes with all that is in it, however the block ends.
    """
    target = Path(path)
    with contextlib.ExitStack() as stack:
        try:
            temporary = stack.enter_context(temporary_directory(target)) / target.name
        except OSError as error:
            raise UserError(f"{target}: cannot be written: {error.strerror or error}") from error
        with errors_naming(target):
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, target)
    sync_directory(target.parent)


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put a file in place at once: it is there complete or not at all, whenever the process ends."""
    write_pieces(path, [content])


def write_pieces(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """The same of a content that comes in pieces."""
    with write_atomically(path) as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Turn an operating system's error, such as a full disk, into one line that names the file."""
    try:
        yield
    except OSError as error:
        cure = "make room, then resume" if error.errno in _NO_ROOM else "put that right, then resume"
        raise ElmoError(f"{path}: cannot be written: {error.strerror or error}; {cure}") from error


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system can (Windows cannot open one)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
