"""Servers over a tiny model for all tests here."""

import io
import logging
from collections.abc import Iterator

import pytest
from tests.apps.server.running import Running, running
from tests.tiny import make_bilm

from elmo.apps.server.app import make_app
from elmo.apps.server.limits import Limits
from elmo.apps.server.logs import log_as_json
from elmo.embed.embedder import Embedder
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

LIMITS = Limits(most_bytes=20_000, most_inputs=20, most_tokens=400, most_waiting_tokens=1000, read_timeout=60.0)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Embedder(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), device="cpu")


@pytest.fixture(scope="session")
def server(embedder: Embedder) -> Iterator[Running]:
    with running(make_app(embedder, name="tiny", limits=LIMITS)) as found:
        yield found


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log of a server in this process; afterwards the loggers are as they were."""
    names = ("elmo.server", "elmo.embed.batchembedder", "uvicorn.error", "asyncio")
    root = logging.getLogger()
    before = list(root.handlers)
    written = io.StringIO()
    log_as_json(requests=True, stream=written)
    yield written
    root.handlers = before
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)
