"""How a server begins and ends, what it does about clients that go away or dawdle, and what its log says."""

import asyncio
import contextlib
import gc
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.apps.server.conftest import LIMITS
from tests.apps.server.running import PATIENCE, Running, running

from elmo.apps.server.app import make_app
from elmo.apps.server.serving import bind, pick_up
from elmo.embed.embedder import Embedder
from elmo.errors import UserError
from elmo.weights.formats import write_model

ASK = {"input": "The bank."}


class Slow:
    """An embedder whose batches wait until they are let go."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.go = threading.Event()
        self.begun = threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._embedder, name)

    def encode(self, *arguments: object, **options: object) -> object:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        return self._embedder.encode(*arguments, **options)  # type: ignore[call-overload]


@pytest.fixture
def slow(embedder: Embedder) -> Iterator[Slow]:
    found = Slow(embedder)
    yield found
    found.go.set()


def events(written: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def poll(condition) -> None:
    """Wait for what another thread is about to do."""
    done = threading.Event()
    for _ in range(int(PATIENCE * 100)):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("it did not come to pass")


def test_it_is_ready_after_a_first_batch(slow: Slow) -> None:
    with running(make_app(slow)) as server:  # type: ignore[arg-type]
        assert server.get("/health").status == server.get("/v2/health/live").status == 200
        reply = server.get("/ready")
        assert (reply.status, reply.error["message"]) == (503, "the server is warming up")
        slow.go.set()
        poll(lambda: server.get("/ready").status == 200)
        assert server.get("/v2/health/ready").json == {"status": "ready"}
        assert "elmo_ready 1.0" in server.get("/metrics").body.decode()


def test_a_request_that_takes_too_long_is_refused(slow: Slow) -> None:
    with running(make_app(slow, limits=replace(LIMITS, timeout=3.0))) as server:  # type: ignore[arg-type]
        reply = server.post("/v1/embeddings", ASK)
        assert (reply.status, reply.error["code"], reply.headers["retry-after"]) == (503, "timeout", "10")
        assert "elmo_waiting_tokens 0.0" in server.get("/metrics").body.decode()
        slow.go.set()


def test_a_client_that_goes_away_is_dropped(slow: Slow) -> None:
    with running(make_app(slow)) as server:  # type: ignore[arg-type]
        poll(slow.begun.is_set)
        connection = server.connect()
        connection.request("POST", "/v1/embeddings", json.dumps(ASK), {"Content-Type": "application/json"})
        poll(lambda: server.service.load.tokens > 0)
        connection.close()
        poll(lambda: server.service.load.tokens == 0)
        assert not server.service.batcher._jobs
        assert "elmo_dropped_total 1.0" in server.get("/metrics").body.decode()
        slow.go.set()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /health HTTP/1.1\r\nHost: local", b"408"),
        (
            b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
            b"408",
        ),
        (b"", b""),
    ],
)
def test_who_dawdles_is_not_waited_for(embedder: Embedder, sent: bytes, status: bytes) -> None:
    with (
        running(make_app(embedder, limits=replace(LIMITS, read_timeout=2.0))) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection,
    ):
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer[9:12] == status


def test_who_does_not_read_its_answer_is_not_waited_for(embedder: Embedder) -> None:
    limits = replace(LIMITS, timeout=6.0, most_bytes=10**6, most_tokens=10**6, most_waiting_tokens=10**6)
    body = json.dumps({"inputs": ["word " * 2000] * 20, "layers": "all"}).encode()
    with running(make_app(embedder, limits=limits)) as server:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", server.port))
        head = (
            f"POST /embed_tokens HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\nAccept: application/x-ndjson\r\n"
        )
        connection.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        poll(lambda: server.service.load.tokens > 0)
        poll(lambda: server.service.load.tokens == 0)
        assert server.get("/health").status == 200
        connection.close()


def test_texts_are_never_in_the_log(embedder: Embedder, lines: io.StringIO) -> None:
    secret = "swordfishes"
    with running(make_app(embedder, limits=LIMITS)) as server:
        long = secret * 20  # the library warns of a word that is cut
        server.post("/v1/embeddings", {"input": f"{secret} {long}"})
        server.post("/v1/embeddings", {"input": 1, secret: 1})
        server.post("/similar", {"word": secret, "first": f"{secret} {secret}", "second": f"a {secret}"})
        server.post("/similar", {"word": secret, "first": "a", "second": "b"})
        server.post(f"/{secret}?{secret}", {"input": secret})
        server.post("/v1/embeddings", f'{{"input": "{secret}'.encode(), raw=True)
        server.get("/health", headers={"X-Own": secret, "Authorization": f"Bearer {secret}"})
    written = lines.getvalue()
    assert secret not in written
    told = [event for event in events(lines) if event["event"] == "request"]
    assert [event["status"] for event in told] == [200, 422, 200, 422, 404, 400, 200]
    assert {"route", "method", "seconds", "tokens", "time", "level"} <= set(told[0])
    assert told[0]["tokens"] == 2


def test_a_mistake_of_the_server_is_a_500_whose_place_is_in_the_log(embedder: Embedder, lines: io.StringIO) -> None:
    class Broken(Slow):
        def encode(self, sentences: object, **_: object) -> object:
            raise ZeroDivisionError(f"about {sentences}")

    with running(make_app(Broken(embedder))) as server:  # type: ignore[arg-type]
        reply = server.post("/v1/embeddings", {"input": "swordfish"})
        assert server.get("/ready").status == 503
        (failed,) = [event for event in events(lines) if event["event"] == "first batch failed"]
    assert (failed["level"], failed["error"]) == ("error", "ZeroDivisionError")
    gc.collect()
    assert "never retrieved" not in lines.getvalue()
    assert (reply.status, reply.error["type"]) == (500, "server_error")
    assert "swordfish" not in reply.error["message"]
    found = [event for event in events(lines) if event["event"] == "error"]
    assert found[-1]["error"] == "ZeroDivisionError"
    assert any(frame.startswith("test_life.py:") for frame in found[-1]["frames"])
    assert "swordfish" not in lines.getvalue()
    assert "Traceback" not in lines.getvalue()


def test_memory_that_does_not_suffice_is_a_503(embedder: Embedder) -> None:
    class Full(Slow):
        def encode(self, *_: object, **__: object) -> object:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: out of memory")

    with running(make_app(Full(embedder))) as server:  # type: ignore[arg-type]
        reply = server.post("/v1/embeddings", ASK)
    assert (reply.status, reply.error["code"]) == (503, "out_of_memory")


# A client that gets no turn for two seconds has not gone away: at its end the server waits until all have.
PATIENT = f"""
import sys
import elmo.apps.server.serving as serving
from elmo.apps.cli import main
serving.LAST_REQUESTS = {PATIENCE}
sys.exit(main())
"""


def start(folder: Path, *options: str) -> tuple[subprocess.Popen[str], int]:
    """`elmo serve` as a process of its own; gives it and its port."""
    command = [sys.executable, "-c", PATIENT, "serve", "--port", "0", "--model", str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = process.stdout.readline()
    assert told.startswith("listening on http://127.0.0.1:"), process.communicate()[1]
    return process, int(told.rpartition(":")[2])


@pytest.fixture(scope="module")
def folder(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "tiny"
    write_model(embedder.model, path)
    return path


@pytest.mark.parametrize("clients", [1, 3])
def test_connections_that_the_system_has_taken_are_picked_up(clients: int) -> None:
    made = []

    class Made(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.append(transport)

    async def close_with(waiting: contextlib.ExitStack) -> None:
        listening = await asyncio.get_running_loop().create_server(Made, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        for _ in range(clients):  # without a turn of the loop
            waiting.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(b"GET")
        await pick_up(listening, lambda: False)
        listening.close()
        assert len(made) == clients  # known when it closes, so that they are waited for
        for transport in made:
            transport.close()

    with contextlib.ExitStack() as waiting:
        asyncio.run(close_with(waiting))


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_end_loses_no_request_that_was_taken(folder: Path) -> None:
    process, port = start(folder, "--log-requests")
    counts = {"answered": 0, "refused": 0, "lost": 0}
    lock, first, clients = threading.Lock(), threading.Event(), 8

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        body = json.dumps({"input": ["The bank is closed. We went home."] * 30})
        while True:
            try:
                connection.connect()
            except ConnectionRefusedError:
                outcome = "refused"
            else:
                outcome = one(connection, body)
            with lock:
                counts[outcome] += 1
            if counts["answered"] >= clients:
                first.set()
            if outcome != "answered":
                return

    def one(connection: http.client.HTTPConnection, body: str) -> str:
        """Requests over one connection until the server says that it closes."""
        fresh = True
        while True:
            try:
                connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                assert reply.status == 200
                assert len(json.loads(reply.read())["data"]) == 30
            except (http.client.HTTPException, OSError) as error:
                # The system itself resets what it took in the moment of closing, before the server could see it.
                return "refused" if fresh and type(error) in (ConnectionResetError, BrokenPipeError) else "lost"
            fresh = False
            if reply.will_close:
                connection.close()
                return "answered"
            with lock:
                counts["answered"] += 1
            if counts["answered"] >= clients:
                first.set()

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    assert first.wait(PATIENCE)
    process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join(PATIENCE)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    told = [json.loads(line) for line in log.splitlines()]
    assert told[-1]["event"] == "stopped"
    assert counts["lost"] == 0
    assert counts["refused"] == clients
    served = [event for event in told if event["event"] == "request"]
    assert {event["status"] for event in served} == {200}
    assert len(served) == counts["answered"]


def test_a_port_that_is_taken_and_an_empty_key_are_told_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from elmo.apps.cli import main

    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1:{port}: cannot be listened on"):
            bind("127.0.0.1", port)
        assert main(["serve", "--port", str(port)]) == 2
        assert "choose another --host or --port" in capsys.readouterr().err
    monkeypatch.setenv("ELMO_API_KEY", " ")
    assert main(["serve", "--port", "0"]) == 2
    assert "the key is empty" in capsys.readouterr().err


def test_without_its_libraries_the_command_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['starlette'] = None; sys.modules['starlette.applications'] = None; "
        "from elmo.apps.cli import main; sys.exit(main(['serve']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'elmo-embeddings[serve]'" in done.stderr


def test_the_server_itself_imports_no_torch() -> None:
    code = (
        "import sys, elmo.apps.server.app, elmo.apps.server.serving, elmo.apps.server.logs; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_requests_on_one_connection(server: Running) -> None:
    connection = server.connect()
    for _ in range(2):
        connection.request("POST", "/v1/embeddings", json.dumps(ASK), {"Content-Type": "application/json"})
        assert len(json.loads(connection.getresponse().read())["data"]) == 1
    connection.close()
