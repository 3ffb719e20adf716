"""How many threads torch computes with for the time of a call, given back when the last of several calls has ended."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from elmo.ops.forks import is_forked
from elmo.ops.threadlock import ThreadLock


class TorchThreads:
    """Torch's number of threads: a value of each thread, which new threads take from the one that set it last."""

    def __init__(self) -> None:
        self._lock = ThreadLock()
        self._calls = 0
        self._outside = 0

    @contextmanager
    def set_to(self, count: int) -> Iterator[None]:
        """Compute with `count` threads. Calls at the same time all give back what was there before the first one.

        In a forked process it is one, whatever the count: more would wait for threads that are not there.
        """
        with self._lock.held():
            if self._calls == 0:
                self._outside = torch.get_num_threads()
            self._calls += 1
            torch.set_num_threads(1 if is_forked() else count)
        try:
            yield
        finally:
            with self._lock.held():
                self._calls -= 1
                torch.set_num_threads(self._outside)


TORCH_THREADS = TorchThreads()
