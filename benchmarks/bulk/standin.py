"""A device that takes no time: all that surrounds a GPU runs as it does beside one, and is what is measured.

Tensors are torch's `meta` tensors, which have shapes and no numbers: what is launched on a GPU is launched here, and
computes nothing. The network is one launch, as a recorded graph is. Vectors come to the host from a buffer that is
there already.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from elmo.embed.embedder import Embedder
from elmo.embed.outbox import CHUNK_BYTES, Outbox
from elmo.embed.wordcache import WordCache
from elmo.model.state import State
from elmo.weights.loaded import LoadedModel

META = torch.device("meta")


class NoTimeEmbedder(Embedder):
    """Numbers of the right shape and no meaning, as fast as everything but the network."""

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model, device="cpu")
        size = self._boundaries.shape[1]
        self._device = "meta"
        self._dtype = self.precision = "bfloat16"
        self._runner: Any = _NoNetwork(self, size)
        self._forward = self._runner.layers
        self._boundaries = torch.empty(2, size, device=META)
        self._cache = WordCache(self._encode_words, size=size)

    def _outbox(self) -> "contextlib.AbstractContextManager[Outbox | None]":
        return _NoWay()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock.held():
            yield


class _NoNetwork:
    """What a biLM gives, without numbers."""

    def __init__(self, embedder: Embedder, size: int) -> None:
        self.config = embedder.model.config
        self._layers, self._dim, self._size = embedder.layer_count, embedder.dim, size
        self.settled_h = torch.empty(1, device=META)

    def tokens(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.empty(len(rows), self._size, device=META)

    def layers(self, x: torch.Tensor, _: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        N, T = x.shape[:2]
        return torch.empty(self._layers, N, T, self._dim, dtype=torch.bfloat16, device=META), state

    def settled_state(self, _: int) -> State:
        return State(self.settled_h, self.settled_h)


class _NoWay(Outbox):
    """The host's side of the way from a device: what has arrived goes to its place, in threads."""

    def __init__(self) -> None:
        super().__init__(META)
        self._arrived: npt.NDArray[np.uint8] = np.zeros(CHUNK_BYTES, np.uint8)

    def _computed(self, values: torch.Tensor) -> None:
        pass

    def _crossing(self, chunk: torch.Tensor) -> Callable[[], npt.NDArray[Any]]:
        size = chunk.numel() * chunk.element_size()
        array: npt.NDArray[Any] = self._arrived[:size].view(str(chunk.dtype).removeprefix("torch."))
        return lambda: array.reshape(chunk.shape)
