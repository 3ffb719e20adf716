"""Malformed requests to a server: each is answered or its connection closed; no 500, no traceback, nothing left behind.

python -m benchmarks.serve.fuzz --count 20000
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.serve.malformed import malformed
from benchmarks.serve.starting import started

PATIENCE = 60.0  # seconds for an answer; the server itself waits a second for what does not come
PAUSE = 0.002  # between the pieces of a request
CLIENTS = 16


async def send(port: int, seed: int) -> str:
    """One request; gives what came of it: a status, "closed", or "hang"."""
    request = malformed(seed)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError as error:
        return f"no connection: {error}"
    try:
        async with asyncio.timeout(PATIENCE):
            for piece in request.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(PAUSE)
            if request.cut:
                return "cut"
            line = await reader.readline()
            status = line.split(b" ")[1].decode("ascii") if line.startswith(b"HTTP/1.") else "closed"
            if status in ("500", "501", "502"):
                return f"{status} {seed}"
            return status
    except TimeoutError:
        return f"hang {seed}"
    except OSError:  # reset by the server, which has said what it had to say
        return "closed"
    finally:
        writer.close()


async def send_all(port: int, seeds: range) -> Counter[str]:
    """All of them, some at a time."""
    outcomes: Counter[str] = Counter()
    waiting = iter(seeds)

    async def client() -> None:
        for seed in waiting:
            outcomes[await send(port, seed)] += 1
            if sum(outcomes.values()) % 1000 == 0 and sys.stderr.isatty():
                print(f"\r{sum(outcomes.values()):,}", end="", file=sys.stderr)

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return outcomes


async def what_is_left(port: int) -> float:
    """The tokens that the server still holds once it has had time to let them go."""
    for _ in range(600):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        text = (await reader.read()).decode()
        writer.close()
        left = float(text.partition("\nelmo_waiting_tokens ")[2].partition("\n")[0])
        if left == 0:
            return left
        await asyncio.sleep(0.1)
    return left


def faults(outcomes: Counter[str], left: float, log: str) -> list[str]:
    """What must not be."""
    found = [f"{outcome} ({count})" for outcome, count in outcomes.items() if outcome[:2] in ("50", "ha", "no")]
    if left:
        found.append(f"{left:.0f} tokens are held for nobody")
    for line in log.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            found.append(f"the log has a line that is no JSON: {line[:200]}")
        else:
            if event["level"] not in ("info", "warning"):
                found.append(f"the log has an error: {line[:500]}")
    return found


def make_small(folder: Path) -> list[str]:
    """A tiny model, an index and a task of it: the options of a server that has them."""
    from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
    from tests.tiny import make_bilm

    from elmo.analysis.index import build_index
    from elmo.embed.loading import load
    from elmo.tasks.training.trainer import train_task
    from elmo.text.tokenizer import Tokenizer
    from elmo.weights.formats import write_model
    from elmo.weights.loaded import LoadedModel

    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), folder / "tiny")
    embedder = load(str(folder / "tiny"), device="cpu")
    (folder / "text.txt").write_text("The bank was steep.\nA bank lent money.\n", encoding="utf-8")
    build_index(embedder, [str(folder / "text.txt")], folder / "index", layers="all")
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=1)
    examples = recipe.make_task().read(str(sample.train))[:8]
    train_task("ner", recipe, examples, examples, folder / "run", model=embedder.model, device="cpu")
    return ["--model", str(folder / "tiny"), "--index", str(folder / "index"), "--task", str(folder / "run")]


def main() -> None:
    """Start a server with a tiny model, and send."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="requests")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first one")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        with started(*make_small(Path(folder)), "--read-timeout", "1") as server:
            begin = time.perf_counter()
            outcomes = asyncio.run(send_all(server.port, range(arguments.seed, arguments.seed + arguments.count)))
            left = asyncio.run(what_is_left(server.port))
            seconds = time.perf_counter() - begin
            found = faults(outcomes, left, server.log.read_text("utf-8"))
            alive = server.process.poll() is None
    print(
        f"{arguments.count:,} requests in {seconds:.0f} s: "
        + ", ".join(f"{k} {v:,}" for k, v in outcomes.most_common())
    )
    for fault in found:
        print("FAULT", fault)
    if found or not alive:
        sys.exit(1)
    print("no 500, no hang, no traceback; nothing is held")


if __name__ == "__main__":
    main()
