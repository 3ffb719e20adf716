"""Where a training step gets its symbols from: a corpus that stands on the device, or batches fetched ahead.

R directions, T steps of a window, B rows of this process.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.pretrain.data.resident import ResidentStreams, bytes_on_device
from elmo.pretrain.data.streams import Streams

# Of the device's free memory, for the corpus.
SHARE_FOR_CORPUS = 0.25
SAMPLED_WINDOWS = 8

Value = TypeVar("Value")


class BatchSource(Protocol):
    """The symbols of each step, and how many distinct ones they may be."""

    def symbols(self, step: int) -> Tensor:
        """Symbols [R, T + 1, B]: inputs without the last, targets without the first."""

    def distinct(self, step: int) -> int:
        """Distinct ones among the inputs, at most."""

    def most_distinct(self) -> int:
        """A number that few steps exceed."""


def make_source(streams: Streams, rows: slice, device: torch.device) -> BatchSource:
    """On a GPU the corpus itself where it fits, otherwise batches made by another thread."""
    if device.type == "cuda" and bytes_on_device(streams) <= SHARE_FOR_CORPUS * torch.cuda.mem_get_info(device)[0]:
        return ResidentStreams(streams, rows, device)
    return FetchedStreams(streams, rows, pinned=device.type == "cuda")


class FetchedStreams:
    """Batches on the host, made by another thread while the device works on the one before."""

    def __init__(self, streams: Streams, rows: slice, *, pinned: bool) -> None:
        self._streams, self._rows, self._pinned = streams, rows, pinned
        self._prefetch = Prefetch(self._make)
        self._counted: tuple[int, int] = (-1, 0)

    def symbols(self, step: int) -> Tensor:
        tensor, distinct = self._prefetch.take(step)
        self._counted = (step, distinct)
        return tensor

    def distinct(self, step: int) -> int:
        return self._counted[1] if self._counted[0] == step else count_distinct(self._streams.symbols(step, self._rows))

    def most_distinct(self) -> int:
        """A quarter more than batches from all over the epoch have."""
        chosen = np.linspace(0, self._streams.windows - 1, num=SAMPLED_WINDOWS).astype(int)
        return max(count_distinct(self._streams.symbols(int(window), self._rows)) for window in chosen) * 5 // 4

    def _make(self, step: int) -> tuple[Tensor, int]:
        symbols = self._streams.symbols(step, self._rows)
        tensor = torch.from_numpy(symbols)
        return (tensor.pin_memory() if self._pinned else tensor), count_distinct(symbols)


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


def count_distinct(symbols: npt.NDArray[np.int32]) -> int:
    """Distinct inputs among [R, T + 1, B], at most: the separator stands for one in each direction."""
    return len(np.unique(symbols[:, :-1])) + 1
