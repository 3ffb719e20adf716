"""Memory for the vectors of parts, used again: to get it fresh from the system takes longer than to fill it."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")

MOST_FREE = 2  # blocks that wait for the next part


class PartMemory:
    """Arrays for the vectors of parts, which are given back when they are written."""

    def __init__(self) -> None:
        self._free: list[npt.NDArray[np.uint8]] = []
        self._taken: list[npt.NDArray[np.uint8]] = []
        self._lock = threading.Lock()

    def empty(self, shape: tuple[int, int], dtype: Any) -> npt.NDArray[Any]:
        """An array that is not set."""
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        with self._lock:
            place = next((n for n, block in enumerate(self._free) if block.nbytes >= size), None)
            block = np.empty(size, np.uint8) if place is None else self._free.pop(place)
            self._taken.append(block)
        array: npt.NDArray[Any] = block[:size].view(dtype).reshape(shape)
        return array

    def give_back(self, array: npt.NDArray[Any]) -> None:
        """Nobody reads this array any more, or another view of its memory. One that is not from here stays as it is."""
        with self._lock:
            place = next((n for n, block in enumerate(self._taken) if block is array.base), None)
            if place is not None:
                self._free = [*self._free, self._taken.pop(place)][-MOST_FREE:]

    def after(self, items: Iterable[Item], vectors: Callable[[Item], npt.NDArray[Any]]) -> Iterator[Item]:
        """The same items; the memory of one's vectors is given back when the next one is asked for."""
        for item in items:
            yield item
            self.give_back(vectors(item))
