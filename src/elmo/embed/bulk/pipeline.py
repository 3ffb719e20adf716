"""Work beside the main thread: what comes next is made ready ahead of it, what is done is written behind it.

Both hold a bounded number of items, and hand errors over to the main thread.
"""

import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

LOOK_UP_SECONDS = 0.1  # how often a wait is interrupted to see whether the other side is still there
TURN_SECONDS = 0.0005
PARTING_SECONDS = 2.0  # a thread that waits for standard input may never come back, and is left behind


class _End:
    """Behind the last item: all is well, or the error that ended it."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def ahead(items: Iterable[Item], *, depth: int) -> Generator[Item, None, None]:
    """The same items, made in a thread that is up to `depth` of them ahead."""
    ready: queue.Queue[Item | _End] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: Item | _End) -> None:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=LOOK_UP_SECONDS)
                return
            except queue.Full:
                continue

    def make() -> None:
        try:
            for item in items:
                put(item)
                if stopped.is_set():
                    return
        except BaseException as error:
            put(_End(error))
        else:
            put(_End())

    thread = threading.Thread(target=make, name="elmo-ahead", daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        thread.join(PARTING_SECONDS)


class Behind(Generic[Item]):
    """Runs `work` on the items that are put, in a thread of its own. Leaving the context waits for it.

    Where the context is left by an error, `work` meets `Abandoned` in its items.
    """

    def __init__(self, work: Callable[[Iterator[Item]], Any], *, depth: int) -> None:
        self._work = work
        self._items: queue.Queue[Item | _End] = queue.Queue(depth)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="elmo-behind", daemon=True)

    def __enter__(self) -> "Behind[Item]":
        self._thread.start()
        return self

    def put(self, item: Item) -> None:
        """Hand an item over; fails with the error of `work` if it has met one."""
        self._put(item)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._put(_End(None if kind is None else Abandoned()))
        except BaseException:
            if kind is None:
                raise
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error

    def _put(self, item: Item | _End) -> None:
        while True:
            if not self._thread.is_alive():
                raise self._error or RuntimeError("the thread that writes has ended before its time")
            try:
                self._items.put(item, timeout=LOOK_UP_SECONDS)
                return
            except queue.Full:
                continue

    def _run(self) -> None:
        try:
            self._work(self._received())
        except BaseException as error:
            self._error = error

    def _received(self) -> Iterator[Item]:
        while not isinstance(item := self._items.get(), _End):
            yield item
        if item.error is not None:
            raise item.error


@contextmanager
def short_turns() -> Iterator[None]:
    """Threads of Python take turns more often, and again as before at the end.

    A thread that has waited for a device or a pipe wants the interpreter back at once, and gets it when another one's
    turn is over: 5 ms, for each launch and each piece of data.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Abandoned(Exception):  # noqa: N818 - it tells of somebody else's error
    """No more items will come, because the main thread has failed."""
