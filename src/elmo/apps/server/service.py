"""`Service`: what all requests of a server share: the model on its thread, limits, load, metrics."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.batcher import Array, Batcher
from elmo.apps.server.calls import Call
from elmo.apps.server.limits import Limits
from elmo.apps.server.load import Load
from elmo.apps.server.metrics import ServerMetrics
from elmo.apps.server.refusals import RefusedError
from elmo.apps.server.texts import count_tokens, embed
from elmo.embed.choices import Layers
from elmo.embed.inputs import GivenText
from elmo.errors import UserError
from elmo.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from elmo.analysis.index.wordindex import WordIndex
    from elmo.embed.embedder import Embedder
    from elmo.tasks.training.trained import TrainedTask

logger = logging.getLogger("elmo.server")

LONGEST_MESSAGE = 1000  # characters: some quote a sentence
ALIAS = "elmo"  # a name that every server knows its model by
WARM_UP = [["The", "bank", "is", "closed", "."], ["Yes"]]


@dataclass
class Service:
    """One server. `name` is what the model is called in answers."""

    embedder: "Embedder"
    limits: Limits
    name: str
    tasks: Mapping[str, "TrainedTask"]
    index: "WordIndex | None" = None
    key: str | None = None
    hosts: frozenset[str] | None = None  # names that it answers to; None: any
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    sha256: str | None = None  # of the model's numbers, which takes a moment to know
    is_warm: bool = False
    is_draining: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    def __post_init__(self) -> None:
        self.load = Load(self.limits, self.metrics)
        self.batcher = Batcher(self.embedder, batch_tokens=self.limits.batch_tokens, done=self._count)

    @property
    def is_ready(self) -> bool:
        """Whether it wants requests."""
        return self.is_warm and not self.is_draining

    @property
    def json_name(self) -> str:
        """The model's name as JSON."""
        return json.dumps(self.name)

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's."""
        return self.embedder.model.tokenizer

    def start(self) -> None:
        """Start the thread, and let a first batch go through the model; requests may come meanwhile."""
        self._loop = asyncio.get_running_loop()
        self.batcher.start()
        self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        try:
            await self.batcher.call(lambda: self.embedder.encode(WARM_UP, show_progress_bar=False))
            self.sha256 = await asyncio.to_thread(lambda: self.embedder.model.sha256)
        except Exception:  # said now, not when the task is collected; the server never becomes ready
            logger.exception("first batch failed")
            return
        self.is_warm = True
        self.metrics.ready.set(0 if self.is_draining else 1)
        logger.info("ready", extra={"facts": {"model": self.name, "device": self.embedder.device_name}})

    def drain(self) -> None:
        """Say that no more requests are wanted; those that come are still answered."""
        self.is_draining = True
        self.metrics.ready.set(0)

    async def stop(self) -> None:
        """End the thread."""
        self.drain()
        await asyncio.to_thread(self.batcher.close)
        self._warming.cancel()  # what waits for a batch that is not computed any more

    def check_model(self, name: str | None) -> None:
        """Refuse the name of another model: its vectors are not to be had here."""
        if name not in (None, self.name, ALIAS):
            raise RefusedError(
                404,
                f"the model {str(name)[:60]!r} is not here; this server has {self.name!r} (or leave model out)",
                code="model_not_found",
                param="model",
            )

    async def embed(self, call: Call, texts: Sequence[GivenText], *, layers: Layers) -> list[Array]:
        """The vectors of each text, all at once; in the batches of everybody."""
        call.hold_tokens(count_tokens(texts))
        return [vectors async for found in embed(self.batcher, texts, layers) for vectors in found]

    async def run(self, call: Call, tokens: int, function: Callable[[], Any]) -> Any:
        """What a function that uses the model gives, called on its thread in its turn; `tokens`: those it holds."""
        if tokens:
            call.hold_tokens(tokens)
        try:
            return await self.batcher.call(function)
        except UserError as error:
            raise RefusedError(422, str(error)[:LONGEST_MESSAGE], code="invalid_value") from None

    def _count(self, tokens: int, seconds: float) -> None:
        self.metrics.tokens.inc(tokens)
        self.metrics.batch_tokens.observe(tokens)
        self.metrics.batch_seconds.observe(seconds)
        self._loop.call_soon_threadsafe(self.load.learn_rate, tokens, seconds)


Handler = Callable[[Service, Call, Request], Awaitable[Response]]
