"""Vectors from a GPU to arrays of the host, while it goes on with the next batch.

They cross once, in the type that is wanted, on a stream of their own, through pinned memory that torch keeps and hands
out again. Threads that wait for the GPU without holding the interpreter put them into their places.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from elmo.embed.numbered import Integers

CHUNK_BYTES = 16 << 20
CHUNKS_UNDER_WAY = 24
THREADS = 8


class Outbox:
    """Takes rows of numbers from the device. Leaving the context waits until all are where they belong."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream: torch.cuda.Stream | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="elmo-outbox")
        self._room = threading.Semaphore(CHUNKS_UNDER_WAY)
        self._sent: list[Future[None]] = []

    def send(self, values: Tensor, target: npt.NDArray[Any], places: Integers) -> None:
        """Put `values` [rows, D] to the rows `places` of `target`; waits where too much is under way."""
        if not len(values):
            return
        self._computed(values)
        rows = max(1, CHUNK_BYTES // max(1, values.shape[1] * values.element_size()))
        for start in range(0, len(values), rows):
            chunk = values[start : start + rows]
            self._room.acquire()
            try:
                task = self._threads.submit(self._deliver, self._crossing(chunk), target, places[start : start + rows])
            except BaseException:
                self._room.release()
                raise
            self._sent.append(task)
        self._sent = [task for task in self._sent if not (task.done() and task.exception() is None)]

    def _computed(self, values: Tensor) -> None:
        """Let the crossing wait for what computes `values`, and their memory for the crossing."""
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        # Not to be used again before they have left, also where a later chunk finds no room on the host.
        values.record_stream(self._stream)

    def _crossing(self, chunk: Tensor) -> Callable[[], npt.NDArray[Any]]:
        """Start the way to the host; what comes back waits for its end."""
        pinned = torch.empty(chunk.shape, dtype=chunk.dtype, pin_memory=True)
        with torch.cuda.stream(self._stream):
            pinned.copy_(chunk, non_blocking=True)
        arrived = torch.cuda.Event(blocking=True)  # a thread that waits for it sleeps
        arrived.record(self._stream)

        def wait() -> npt.NDArray[Any]:
            arrived.synchronize()
            array: npt.NDArray[Any] = pinned.numpy()
            return array

        return wait

    def _deliver(self, crossing: Callable[[], npt.NDArray[Any]], target: npt.NDArray[Any], places: Integers) -> None:
        try:
            target[places] = crossing()
        finally:
            self._room.release()

    def __enter__(self) -> "Outbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Also after an error: nobody may write into the arrays when the call is over.
        self._threads.shutdown(wait=True)
        if kind is None:
            for task in self._sent:
                task.result()
