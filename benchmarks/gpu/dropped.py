"""Vectors that stay on the GPU where they were computed, so that the model is timed without the way to the host."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.embed.embedder import Embedder


class Dropped:
    """In the place of what brings vectors from a GPU: it leaves them there."""

    def send(self, values: Any, target: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> None:
        pass


@contextlib.contextmanager
def results_dropped(embedder: Embedder) -> Iterator[None]:
    """On a GPU vectors are computed and converted, and stay there. On a CPU nothing changes."""
    if embedder.device_name == "cpu":
        yield
        return
    embedder._outbox = lambda: contextlib.nullcontext(Dropped())  # type: ignore[method-assign,assignment,return-value]
    try:
        yield
    finally:
        del embedder._outbox
