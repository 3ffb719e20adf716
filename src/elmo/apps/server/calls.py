"""`Call`: one request on its way through the server: what it holds, and what the log and the metrics say of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from elmo.apps.server.load import Load


class Call:
    """Made by the gate for each request, and closed by it when the answer has been sent or will never be."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._tokens = self._bytes = 0
        self._watch: asyncio.Task[None] | None = None
        self.route = "other"
        self.tokens = 0  # for the log
        self.is_gone = False  # the client went away

    def hold_tokens(self, count: int) -> None:
        """Take so many tokens into the house, or refuse the request."""
        self._load.take_tokens(count)
        self._tokens += count
        self.tokens += count

    def hold_bytes(self, count: int) -> None:
        """The same for bytes of its body."""
        self._load.take_bytes(count)
        self._bytes += count

    def watch(self, receive: Callable[[], Awaitable[Any]]) -> None:
        """Once its body is read: if the client goes away, cancel the task that works for it."""
        task = asyncio.current_task()
        assert task is not None

        async def wait() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.is_gone = True
            task.cancel()

        self._watch = asyncio.create_task(wait())

    def stop_watching(self) -> None:
        """The answer is out: nobody is to be cancelled any more."""
        if self._watch is not None:
            self._watch.cancel()

    def close(self) -> None:
        """Give back what it holds."""
        self.stop_watching()
        self._load.give_back(tokens=self._tokens, size=self._bytes)
        self._tokens = self._bytes = 0
