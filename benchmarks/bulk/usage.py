"""Processor seconds of each kind of thread, and of the processes that this one has started."""

import os
import threading
import time
from collections import defaultdict
from types import TracebackType
from typing import Any

OWN, CHILDREN = "main thread", "other processes"


class Usage:
    """Counts what is spent while the context is open by threads that begin and end in it, and by this one.

    Threads are put together by their names, without the number at the end. Processes count when they have ended.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._run = threading.Thread.run

    def __enter__(self) -> "Usage":
        usage, run = self, self._run

        def counted(thread: threading.Thread, *given: Any) -> None:
            begun = time.thread_time()
            try:
                run(thread, *given)
            finally:
                usage._add(thread.name.rstrip("0123456789_"), time.thread_time() - begun)

        threading.Thread.run = counted  # type: ignore[method-assign]
        self._begun, self._children = time.thread_time(), _of_children()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        threading.Thread.run = self._run  # type: ignore[method-assign]
        self._add(OWN, time.thread_time() - self._begun)
        self._add(CHILDREN, _of_children() - self._children)

    @property
    def here(self) -> float:
        """Seconds of this process."""
        return sum(seconds for name, seconds in self.seconds.items() if name != CHILDREN)

    def _add(self, name: str, seconds: float) -> None:
        with self._lock:
            self.seconds[name] += seconds

    def report(self, *, tokens: int) -> str:
        """A line for each kind, the greatest first: seconds for a million tokens."""
        lines = [
            f"  {seconds / tokens * 1e6:7.3f} s a million tokens  {name}"
            for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])
            if seconds >= 0.0005
        ]
        return "\n".join(
            [*lines, f"  {self.here / tokens * 1e6:7.3f} s a million tokens  this process, all its threads"]
        )


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
