"""A lock between the threads of one process that may stand in an object which is copied, pickled or forked."""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager


class ThreadLock:
    """One thread at a time; the thread that holds it may take it again.

    A copy, pickled or deep, is a lock of its own that nobody holds. A process that is forked while another thread holds
    the lock gets a free one, since that thread is not there: what the lock protects must be right at every instant.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _LOCKS.add(self)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, whatever ends the block."""
        with self._lock:  # this very one: a fork in the block exchanges the attribute
            yield

    def __reduce__(self) -> tuple[type["ThreadLock"], tuple[()]]:
        return ThreadLock, ()


_LOCKS: "weakref.WeakSet[ThreadLock]" = weakref.WeakSet()


def _renew() -> None:
    for lock in _LOCKS:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_renew)
