"""The numbers of the next step, made ready by another thread while the device works on this one."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Prefetch(Generic[Value]):
    """`make(step)` for one step after another; asking for another step than the next one is allowed, and waits."""

    def __init__(self, make: Callable[[int], Value], *, ahead: int = 2) -> None:
        self._make = make
        self._ahead = ahead
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="prefetch")
        self._made: dict[int, Future[Value]] = {}

    def take(self, step: int) -> Value:
        """The numbers of `step`; those of the next ones are begun."""
        wanted = range(step, step + 1 + self._ahead)
        for other in [other for other in self._made if other not in wanted]:
            self._made.pop(other).cancel()
        for other in wanted:
            if other not in self._made:
                self._made[other] = self._threads.submit(self._make, other)
        return self._made.pop(step).result()
