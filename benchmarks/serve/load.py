"""A server under load beside `encode` on the same texts, in one run: how much of the model's speed is left over HTTP.

    python -m benchmarks.serve.load
    python -m benchmarks.serve.load --clients 512 --seconds 300 --rounds 1

Rounds of `encode` and of requests alternate, all on the same cores, which the clients use too. Printed is the ratio of
tokens a second over HTTP to those of `encode`: by the clock, and by processor time (of server and clients together,
which tells on a busy machine too). Every answer is counted and one in a hundred compared with `encode`. The memory of
the server is looked at all the time, and at the end it is stopped by SIGTERM in the middle of its load.
"""

import argparse
import asyncio
import base64
import itertools
import json
import os
import signal
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import elmo
from benchmarks.serve.starting import Started, started
from elmo.analysis.examples import read_collection
from elmo.embed.embedder import Embedder

NEAR = 1e-6
EVERY = 100  # one answer in so many is compared
HEAD = (
    "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: {accept}\r\nContent-Length: "
)


@dataclass
class Outcome:
    """What the clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    tokens: int = 0  # of answers with status 200
    lost: int = 0  # requests whose connection ended without an answer
    refused_connections: int = 0
    wrong: int = 0
    compared: int = 0
    seconds: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)  # of the server: when, MB


@dataclass(frozen=True)
class Ask:
    """A request as bytes, and what it must bring."""

    content: bytes
    tokens: int
    wanted: np.ndarray | None


def make_asks(embedder: Embedder, texts: list[str], *, size: int, path: str, accept: str) -> list[Ask]:
    """Requests of `size` texts each."""
    counts = [len(vectors) for vectors in embedder.encode(texts)]
    means = embedder.encode(texts, pooling="mean")
    asks = []
    for first in range(0, len(texts) - size + 1, size):
        own = texts[first : first + size]
        body = {"input": own, "encoding_format": "base64"} if path == "/v1/embeddings" else {"inputs": own}
        content = json.dumps(body).encode()
        head = HEAD.format(path=path, accept=accept).encode() + str(len(content)).encode() + b"\r\n\r\n"
        wanted = means[first : first + size] if path == "/v1/embeddings" else None
        asks.append(Ask(head + content, sum(counts[first : first + size]), wanted))
    return asks


class Client:
    """Requests one behind the other over a connection that is kept as long as the server keeps it."""

    def __init__(self, port: int, asks: "itertools.cycle[Ask]", outcome: Outcome) -> None:
        self._port, self._asks, self._outcome = port, asks, outcome

    async def run(self, until: float) -> None:
        """Until a time, or until the server takes no connections any more."""
        while time.perf_counter() < until:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
            except OSError:
                self._outcome.refused_connections += 1
                return
            try:
                while time.perf_counter() < until:
                    if not await self._ask(reader, writer):
                        break
            except (OSError, asyncio.IncompleteReadError):
                self._outcome.lost += 1
            finally:
                writer.close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether the connection may be used again."""
        ask = next(self._asks)
        begin = time.perf_counter()
        writer.write(ask.content)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        if b"content-length: " in head:
            body = await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r")[0]))
        else:
            body = await _chunks(reader)
        outcome = self._outcome
        outcome.seconds.append(time.perf_counter() - begin)
        outcome.statuses[status] += 1
        if status == 200:
            outcome.tokens += ask.tokens
            if ask.wanted is not None and outcome.statuses[200] % EVERY == 0:
                outcome.compared += 1
                outcome.wrong += not _equal(body, ask.wanted)
        elif status == 429:
            await asyncio.sleep(float(head.partition(b"retry-after: ")[2].partition(b"\r")[0]))
        return b"connection: close" not in head


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while True:
        size = int(await reader.readline(), 16)
        parts.append(await reader.readexactly(size + 2))
        if size == 0:
            return b"".join(parts)


def _equal(body: bytes, wanted: np.ndarray) -> bool:
    data = json.loads(body)["data"]
    found = np.stack([np.frombuffer(base64.b64decode(one["embedding"]), dtype="<f4") for one in data])
    return bool(np.abs(found - wanted).max() <= NEAR * max(1.0, float(np.abs(wanted).max())))


async def load(server: Started, asks: list[Ask], *, clients: int, seconds: float, stop: bool) -> Outcome:
    """Let clients ask for so long; `stop`: in the middle of it, end the server."""
    outcome = Outcome()
    source = itertools.cycle(asks)
    until = time.perf_counter() + seconds
    tasks = [asyncio.create_task(Client(server.port, source, outcome).run(until)) for _ in range(clients)]
    while not all(task.done() for task in tasks):
        if stop and time.perf_counter() > until - seconds / 2:
            server.process.send_signal(signal.SIGTERM)
            stop = False
        if server.process.poll() is None:
            outcome.memory.append((time.perf_counter(), server.resident / 1e6))
        await asyncio.sleep(0.25)
    await asyncio.gather(*tasks)
    return outcome


def slope(memory: list[tuple[float, float]]) -> float:
    """MB a minute, over the second half: the first fills caches."""
    half = memory[len(memory) // 2 :]
    if len(half) < 3:
        return 0.0
    times, sizes = zip(*half, strict=True)
    return float(np.polyfit(times, sizes, 1)[0] * 60)


def pure_rate(embedder: Embedder, texts: list[str], seconds: float) -> tuple[float, float]:
    """Tokens a second of `encode`, by the clock and by processor time."""
    tokens, begin, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        tokens += sum(map(len, embedder.encode(texts)))
    return tokens / (time.perf_counter() - begin), tokens / (time.process_time() - used)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=8, help="of a request")
    parser.add_argument("--path", default="/v1/embeddings", choices=["/v1/embeddings", "/embed_tokens"])
    parser.add_argument("--accept", default="*/*", help="a format of /embed_tokens")
    parser.add_argument(
        "--most-waiting-tokens", type=int, default=200_000, help="of the server; few: refusals are seen"
    )
    parser.add_argument("--threads", type=int, help="of the model, both ways; 1: processor times without waiting")
    arguments = parser.parse_args()
    embedder = elmo.load(device="cpu", num_threads=arguments.threads)
    texts = list(read_collection())
    asks = make_asks(embedder, texts, size=arguments.texts, path=arguments.path, accept=arguments.accept)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    clock, processor = [], []
    total = Counter[int]()
    options = ["--device", "cpu", "--most-waiting-tokens", str(arguments.most_waiting_tokens)]
    if arguments.threads is not None:
        options += ["--threads", str(arguments.threads)]
    with started(*options) as server:
        for number in range(arguments.rounds):
            pure = pure_rate(embedder, texts, min(arguments.seconds, 20))
            begin, used = time.perf_counter(), time.process_time() + server.processor_seconds
            found = asyncio.run(load(server, asks, clients=arguments.clients, seconds=arguments.seconds, stop=False))
            passed, work = time.perf_counter() - begin, time.process_time() + server.processor_seconds - used
            clock.append(found.tokens / passed / pure[0])
            processor.append(found.tokens / work / pure[1])
            total += found.statuses
            memory = found.memory
            middle = statistics.median(found.seconds)
            print(
                f"round {number + 1}: encode {pure[0]:,.0f} tokens/s, over HTTP {found.tokens / passed:,.0f} "
                f"(ratio {clock[-1]:.2f}; by processor time {processor[-1]:.2f}); answers {dict(found.statuses)}, "
                f"lost {found.lost}, wrong {found.wrong} of {found.compared}; median {middle:.2f} s; memory "
                f"{memory[0][1]:.0f} to {memory[-1][1]:.0f} MB, slope {slope(memory):+.1f} MB/min"
            )
            if found.lost or found.wrong or set(found.statuses) - {200, 429}:
                raise SystemExit("an answer was lost, or wrong, or a refusal other than 429")
        last = asyncio.run(load(server, asks, clients=arguments.clients, seconds=10, stop=True))
        server.process.wait()
    print(f"SIGTERM under load: answers {dict(last.statuses)}, lost {last.lost}")
    print(f"ratio {statistics.median(clock):.2f} by the clock, {statistics.median(processor):.2f} by processor time")
    if last.lost or set(last.statuses) - {200, 429}:
        raise SystemExit("the end lost an answer")


if __name__ == "__main__":
    main()
