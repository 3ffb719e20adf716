"""A lock between processes, which the system frees however its holder ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from elmo.errors import UserError

POLL_SECONDS = 0.2


@contextmanager
def locked(path: Path, *, busy: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path`. When another process has it, `busy` is called: it raises, or returns to wait."""
    lock = FileLock(path, mode=0o644)
    try:
        _acquire(lock, busy)
    except (OSError, NotImplementedError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: cannot be locked ({cause}); choose a folder on another disk") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def locked_alone(path: Path, *, refusal: Exception) -> Iterator[None]:
    """Hold the lock file `path`, or fail with `refusal` where another process has it."""

    def refuse() -> None:
        raise refusal

    with locked(path, busy=refuse):
        yield


def _acquire(lock: BaseFileLock, busy: Callable[[], None]) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        busy()
        lock.acquire(poll_interval=POLL_SECONDS)
