"""The host's half of the way from a GPU: chunks to their places by threads, and errors to whoever waits."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from elmo.embed import outbox
from elmo.embed.outbox import Outbox


class FromHost(Outbox):
    """Values that are on the host already; each chunk says what happens when it is waited for."""

    def __init__(self, arriving: Callable[[Tensor], None] = lambda _: None) -> None:
        super().__init__(torch.device("cpu"))
        self._arriving = arriving

    def _computed(self, values: Tensor) -> None:
        pass

    def _crossing(self, chunk: Tensor) -> Callable[[], npt.NDArray[Any]]:
        def wait() -> npt.NDArray[Any]:
            self._arriving(chunk)
            array: npt.NDArray[Any] = chunk.numpy()
            return array

        return wait


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "CHUNK_BYTES", 100)  # many chunks, more than may be under way
    monkeypatch.setattr(outbox, "CHUNKS_UNDER_WAY", 3)


def threads() -> int:
    return sum(thread.name.startswith("elmo-outbox") for thread in threading.enumerate())


def test_rows_come_to_their_places() -> None:
    values = torch.arange(600, dtype=torch.float32).reshape(200, 3)
    places = np.random.default_rng(0).permutation(200)
    target = np.zeros((200, 3), np.float32)
    with FromHost() as sending:
        for start in range(0, 200, 50):
            sending.send(values[start : start + 50], target, places[start : start + 50])
        sending.send(values[:0], target, places[:0])
    np.testing.assert_array_equal(target[places], values.numpy())
    assert threads() == 0


def test_no_more_chunks_are_under_way_than_may_be() -> None:
    lock, go, under_way = threading.Lock(), threading.Event(), [0, 0]

    def arriving(_: Tensor) -> None:
        with lock:
            under_way[0] += 1
            under_way[1] = max(under_way)
            if under_way[0] == 3:
                go.set()
        assert go.wait(30)
        with lock:
            under_way[0] -= 1

    with FromHost(arriving) as sending:
        sending.send(torch.ones(100, 5), np.zeros((100, 5), np.float32), np.arange(100))
    assert under_way == [0, 3]


def test_an_error_of_a_chunk_is_raised_when_all_are_through() -> None:
    def arriving(chunk: Tensor) -> None:
        if chunk[0, 0] == 20:
            raise RuntimeError("the power is out")

    target = np.zeros((100, 5), np.float32)
    values = torch.arange(100.0)[:, None].expand(100, 5).contiguous()
    with pytest.raises(RuntimeError, match="the power is out"), FromHost(arriving) as sending:
        sending.send(values, target, np.arange(100))
    assert threads() == 0
    np.testing.assert_array_equal(target[25:], values[25:].numpy())  # the others are in their places


def test_an_error_of_the_caller_is_not_hidden_and_leaves_no_thread() -> None:
    def send_and_fail(sending: Outbox) -> None:
        sending.send(torch.ones(100, 5), np.zeros((100, 5), np.float32), np.arange(100))
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"), FromHost() as sending:
        send_and_fail(sending)
    assert threads() == 0
