"""Dynamic batches: what waits, up to a number of tokens, goes through the model at once, on one thread of its own.

A request's sentences are a `Job`. The thread takes from all jobs in turn, so that a large one does not keep the small
ones waiting, and never sleeps for more to come. It stops taking from a job whose results are not fetched: what is
computed and not yet sent is bounded.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elmo.embed.choices import Layers

Array = npt.NDArray[np.float32]
Sentence = Sequence[str]

TURNS = 8  # a job gives this part of a batch at a time
AHEAD = 2  # batches of one job that are computed and not fetched: of such a job no more is taken


class SentenceEncoder(Protocol):
    """What batches go through."""

    def encode(self, sentences: list[list[str]], *, layers: Layers, show_progress_bar: bool) -> list[Array]:
        """Token lists to an array each."""


class Job:
    """Sentences of one request with their results as they come, in order. Cancelled when it is left."""

    def __init__(self, batcher: "Batcher", sentences: list[list[str]], layers: Layers) -> None:
        self._batcher = batcher
        self._loop = asyncio.get_running_loop()
        self._arrived: deque[list[Array] | BaseException] = deque()
        self._news = asyncio.Event()
        self.sentences = sentences
        self.layers = layers
        self.taken = 0  # of the sentences; this and the next are the batcher's
        self.ahead = 0  # tokens taken and not yet fetched
        self.is_cancelled = False

    async def batches(self) -> AsyncIterator[list[Array]]:
        """The results of some sentences at a time."""
        fetched = 0
        while fetched < len(self.sentences):
            while not self._arrived:
                self._news.clear()
                await self._news.wait()
            found = self._arrived.popleft()
            if isinstance(found, BaseException):
                raise found
            yield found
            first, fetched = fetched, fetched + len(found)
            self._batcher.fetched(self, sum(map(size, self.sentences[first:fetched])))

    def deliver(self, found: list[Array] | BaseException) -> None:
        """Results, or why there are none; called by the batcher's thread."""
        self._loop.call_soon_threadsafe(self._put, found)

    def _put(self, found: list[Array] | BaseException) -> None:
        self._arrived.append(found)
        self._news.set()

    async def __aenter__(self) -> "Job":
        self._batcher.submit(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._batcher.cancel(self)


class Errand:
    """A function that uses the model, to be called in its turn; a job of no sentences."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self.function = function
        self.result: asyncio.Future[Any] = self._loop.create_future()
        self.is_cancelled = False

    def run(self) -> None:
        """Call it; never raises."""
        if self.is_cancelled:
            return
        try:
            found = self.function()
        except Exception as error:
            self._loop.call_soon_threadsafe(self._end, None, error)
        else:
            self._loop.call_soon_threadsafe(self._end, found, None)

    def _end(self, found: Any, error: Exception | None) -> None:
        if self.result.done():
            return
        if error is None:
            self.result.set_result(found)
        else:
            self.result.set_exception(error)


class Batcher:
    """The thread with the model, and what waits for it. `done` is told tokens and seconds of each batch there."""

    def __init__(self, encoder: SentenceEncoder, *, batch_tokens: int, done: Callable[[int, float], None]) -> None:
        self._encoder = encoder
        self._batch_tokens = batch_tokens
        self._done = done
        self._change = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._errands: deque[Errand] = deque()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="elmo-model", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Let it finish what it computes, and wait for its end."""
        with self._change:
            self._closing = True
            self._change.notify()
        if self._thread.is_alive():
            self._thread.join()

    def job(self, sentences: list[list[str]], *, layers: Layers) -> Job:
        """Sentences to be embedded: `async with` it, and fetch its `batches`."""
        return Job(self, sentences, layers)

    async def call(self, function: Callable[[], Any]) -> Any:
        """Call a function on the thread, in its turn."""
        errand = Errand(function)
        with self._change:
            self._errands.append(errand)
            self._change.notify()
        try:
            return await errand.result
        finally:
            errand.is_cancelled = True

    def submit(self, job: Job) -> None:
        """A job waits from now on."""
        if job.sentences:
            with self._change:
                self._jobs.append(job)
                self._change.notify()

    def cancel(self, job: Job) -> None:
        """Nothing more is wanted of it; of a finished one that changes nothing."""
        with self._change:
            job.is_cancelled = True
            if job in self._jobs:
                self._jobs.remove(job)

    def fetched(self, job: Job, tokens: int) -> None:
        """So many tokens of a job are on their way to its client."""
        with self._change:
            job.ahead -= tokens
            self._change.notify()

    def _work(self) -> None:
        while True:
            with self._change:
                while not (self._closing or self._errands or any(map(self._may_take, self._jobs))):
                    self._change.wait()
                if self._closing:
                    return
                errand = self._errands.popleft() if self._errands else None
                parts = self._take()
            if errand is not None:
                errand.run()
            if parts:
                self._compute(parts)

    def _may_take(self, job: Job) -> bool:
        return job.ahead < AHEAD * self._batch_tokens

    def _take(self) -> list[tuple[Job, slice]]:
        """Sentences of the next batch, the jobs in turn; a sentence longer than a batch is one by itself."""
        taken: dict[Job, slice] = {}
        room = self._batch_tokens
        passed = 0  # jobs in a row that gave nothing
        able = {job for job in self._jobs if self._may_take(job)}
        while room > 0 and passed < len(self._jobs):
            job = self._jobs.popleft()
            first = job.taken
            turn = min(room, max(1, self._batch_tokens // TURNS))
            while job in able and turn > 0 and job.taken < len(job.sentences):
                tokens = size(job.sentences[job.taken])
                if (tokens > turn and job.taken > first) or (tokens > room and taken):
                    break
                job.taken += 1
                job.ahead += tokens
                turn -= tokens
                room -= tokens
                taken[job] = slice(taken[job].start if job in taken else first, job.taken)
            passed = passed + 1 if job.taken == first else 0
            if job.taken < len(job.sentences):
                self._jobs.append(job)
        return list(taken.items())

    def _compute(self, parts: list[tuple[Job, slice]]) -> None:
        """Encode the sentences of one batch, layer choice by layer choice, and deliver them."""
        for layers in {job.layers for job, _ in parts}:
            same = [(job, job.sentences[part]) for job, part in parts if job.layers == layers and not job.is_cancelled]
            sentences = [sentence for _, own in same for sentence in own]
            if not sentences:
                continue
            begin = time.perf_counter()
            try:
                found = self._encoder.encode(sentences, layers=layers, show_progress_bar=False)
            except Exception as error:
                if len(same) == 1:
                    same[0][0].deliver(error)
                else:  # one of them is to blame, and the others are not
                    for job, part in parts:
                        if job.layers == layers:
                            self._compute([(job, part)])
                continue
            self._done(sum(map(size, sentences)), time.perf_counter() - begin)
            first = 0
            for job, own in same:
                job.deliver(found[first : first + len(own)])
                first += len(own)


def size(sentence: Sentence) -> int:
    """What a sentence counts: its tokens, and one where it has none."""
    return max(1, len(sentence))
