"""Batches: what goes through the model together, in which order, and what happens where something fails."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from elmo.apps.server.batcher import Batcher


class Model:
    """Records what it is given; a word's vector is its length. Waits for `go` before each batch if so told."""

    def __init__(self, *, held: bool = False) -> None:
        self.batches: list[list[list[str]]] = []
        self.layers: list[Any] = []
        self.entered = 0
        self.go = threading.Semaphore(0 if held else 10**4)

    def encode(self, sentences: list[list[str]], *, layers: Any, show_progress_bar: bool) -> list[np.ndarray]:
        assert not show_progress_bar
        self.entered += 1
        self.go.acquire()
        self.batches.append(sentences)
        self.layers.append(layers)
        if ["bad"] in sentences:
            raise ValueError("bad")
        return [np.array([[len(word)] for word in s], dtype=np.float32).reshape(len(s), 1) for s in sentences]

    @property
    def sizes(self) -> list[int]:
        return [sum(max(1, len(s)) for s in batch) for batch in self.batches]


@contextmanager
def working(
    model: Model, *, batch_tokens: int, done: Callable[[int, float], None] = lambda *_: None
) -> Iterator[Batcher]:
    batcher = Batcher(model, batch_tokens=batch_tokens, done=done)
    batcher.start()
    try:
        yield batcher
    finally:
        model.go.release(10**4)
        batcher.close()


async def embed(batcher: Batcher, sentences: list[list[str]], *, layers: Any = "mean") -> list[np.ndarray]:
    async with batcher.job(sentences, layers=layers) as job:
        return [vectors async for found in job.batches() for vectors in found]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def sentences_of(length: int, count: int) -> list[list[str]]:
    return [["w" * (n % 7 + 1)] * length for n in range(count)]


def assert_right(found: list[np.ndarray], sentences: list[list[str]]) -> None:
    assert [vectors[:, 0].tolist() for vectors in found] == [[len(word) for word in s] for s in sentences]


def test_what_waits_goes_through_together_and_each_gets_its_own() -> None:
    model = Model(held=True)
    requests = [sentences_of(n % 3, 2) for n in range(40)]

    async def ask() -> list[list[np.ndarray]]:
        with working(model, batch_tokens=1000) as batcher:
            tasks = [asyncio.create_task(embed(batcher, own)) for own in requests]
            await until(lambda: all(task.get_coro().cr_await is not None for task in tasks))  # type: ignore[union-attr]
            model.go.release(10**4)
            return await asyncio.gather(*tasks)

    for found, own in zip(asyncio.run(ask()), requests, strict=True):
        assert_right(found, own)
    assert len(model.batches) <= 3  # the first may have gone before the others were there


def test_a_batch_has_no_more_tokens_than_it_may() -> None:
    model = Model()
    sentences = sentences_of(7, 50)

    async def ask() -> list[np.ndarray]:
        with working(model, batch_tokens=64) as batcher:
            return await embed(batcher, sentences)

    assert_right(asyncio.run(ask()), sentences)
    assert max(model.sizes) <= 64
    assert len(model.batches) == -(-50 // 9)


def test_a_sentence_longer_than_a_batch_goes_alone() -> None:
    model = Model()
    sentences = [["a"], ["b"] * 100, ["c"]]

    async def ask() -> list[np.ndarray]:
        with working(model, batch_tokens=10) as batcher:
            return await embed(batcher, sentences)

    assert_right(asyncio.run(ask()), sentences)
    assert [100] in [[size] for size in model.sizes]


def test_a_large_request_does_not_keep_a_small_one_waiting() -> None:
    model = Model(held=True)

    async def ask() -> int:
        with working(model, batch_tokens=16) as batcher:
            large = asyncio.create_task(embed(batcher, sentences_of(2, 400)))
            await until(lambda: model.entered == 1)  # else a thread that starts late takes both together
            small = asyncio.create_task(embed(batcher, [["x"]]))
            await until(lambda: len(batcher._jobs) == 2)
            model.go.release(3)
            await small
            before = len(model.batches)
            model.go.release(10**4)
            assert_right(await large, sentences_of(2, 400))
            return before

    assert asyncio.run(ask()) <= 3


def test_nothing_is_computed_far_ahead_of_a_client_that_does_not_fetch() -> None:
    model = Model()

    async def ask() -> None:
        with working(model, batch_tokens=10) as batcher:
            async with batcher.job(sentences_of(2, 500), layers="mean") as job:
                batches = job.batches()
                await anext(batches)
                await batcher.call(lambda: None)  # by then the thread has looked at the job again
                await batcher.call(lambda: None)
                assert sum(model.sizes) <= 3 * 10
            await batcher.call(lambda: None)
            assert sum(model.sizes) <= 4 * 10  # what is left is not computed

    asyncio.run(ask())


def test_only_the_request_that_fails_fails() -> None:
    model = Model(held=True)

    async def ask() -> list[Any]:
        with working(model, batch_tokens=1000) as batcher:
            first = asyncio.create_task(embed(batcher, [["first"]]))
            await until(lambda: model.entered == 1)
            others = [asyncio.create_task(embed(batcher, own)) for own in ([["a"]], [["bad"]], [["ccc"], ["d"]])]
            await until(lambda: len(batcher._jobs) == 3)
            model.go.release(10**4)
            return await asyncio.gather(first, *others, return_exceptions=True)

    first, good, bad, better = asyncio.run(ask())
    assert_right(first, [["first"]])
    assert_right(good, [["a"]])
    assert isinstance(bad, ValueError)
    assert_right(better, [["ccc"], ["d"]])


def test_choices_of_layers_are_not_mixed() -> None:
    model = Model()

    async def ask() -> None:
        with working(model, batch_tokens=1000) as batcher:
            await asyncio.gather(*(embed(batcher, [["a"]], layers=layers) for layers in ("mean", "all", 0, "all")))

    asyncio.run(ask())
    assert set(model.layers) == {"mean", "all", 0}


def test_a_request_that_is_cancelled_is_dropped() -> None:
    model = Model(held=True)

    async def ask() -> None:
        with working(model, batch_tokens=10) as batcher:
            task = asyncio.create_task(embed(batcher, sentences_of(5, 100)))
            await until(lambda: model.entered == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            model.go.release(10**4)
            await batcher.call(lambda: None)
            assert not batcher._jobs

    asyncio.run(ask())
    assert sum(model.sizes) <= 20


def test_an_errand_has_its_turn_and_its_error_comes_back() -> None:
    def fail() -> None:
        raise KeyError("lost")

    async def ask() -> Any:
        with working(Model(), batch_tokens=10) as batcher:
            with pytest.raises(KeyError, match="lost"):
                await batcher.call(fail)
            return await batcher.call(threading.current_thread)

    assert asyncio.run(ask()).name == "elmo-model"


def test_batches_are_told() -> None:
    told: list[tuple[int, float]] = []

    async def ask() -> None:
        with working(Model(), batch_tokens=10, done=lambda *batch: told.append(batch)) as batcher:
            await embed(batcher, sentences_of(3, 10))

    asyncio.run(ask())
    assert sum(tokens for tokens, _ in told) == 30
    assert all(seconds >= 0 for _, seconds in told)
