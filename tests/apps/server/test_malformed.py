"""A small sample of malformed requests; `python -m benchmarks.serve.fuzz` sends twenty thousand."""

import asyncio
import io
from dataclasses import replace

from benchmarks.serve.fuzz import faults, send_all, what_is_left
from benchmarks.serve.malformed import MAKERS, malformed
from tests.apps.server.conftest import LIMITS
from tests.apps.server.running import running

from elmo.apps.server.app import make_app
from elmo.embed.embedder import Embedder

COUNT = 300


def test_malformed_requests_are_refused_and_nothing_is_left(embedder: Embedder, lines: io.StringIO) -> None:
    hosts = ("localhost", "a")
    with running(make_app(embedder, limits=replace(LIMITS, read_timeout=1.0), hosts=hosts)) as server:
        outcomes = asyncio.run(send_all(server.port, range(COUNT)))
        left = asyncio.run(what_is_left(server.port))
        assert server.get("/ready", headers={"Host": "localhost"}).status == 200
    assert faults(outcomes, left, lines.getvalue()) == []
    assert sum(outcomes.values()) == COUNT
    assert {"400", "422", "cut"} <= set(outcomes)


def test_the_sample_has_every_kind_and_is_always_the_same() -> None:
    kinds = {malformed(seed).kind for seed in range(COUNT)}
    assert len(kinds) == len({maker.__name__ for maker in MAKERS})
    assert malformed(7) == malformed(7)
