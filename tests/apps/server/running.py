"""A real server on loopback in a thread of the test's process, on a port that the system chooses."""

import contextlib
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from starlette.applications import Starlette

from elmo.apps.server.serving import bind, make_server

PATIENCE = 300.0  # seconds, for a loaded machine


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]


class Running:
    """A server that answers."""

    def __init__(self, app: Starlette, port: int) -> None:
        self.app = app
        self.port = port

    @property
    def service(self) -> Any:
        return self.app.state.service

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        *,
        raw: bool = False,
    ) -> Reply:
        """One request over a connection of its own; `raw`: the body is bytes already."""
        content = body if raw else None if body is None else json.dumps(body)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, content, {**sent, **(headers or {})})  # type: ignore[arg-type]
            found = connection.getresponse()
            return Reply(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())

    def get(self, path: str, **options: Any) -> Reply:
        return self.ask("GET", path, **options)

    def post(self, path: str, body: object, **options: Any) -> Reply:
        return self.ask("POST", path, body, **options)


@contextlib.contextmanager
def running(app: Starlette) -> Iterator[Running]:
    """Start it, wait until it listens, and stop it in the end."""
    listening = bind("127.0.0.1", 0)
    started = threading.Event()
    server = make_server(app, started=started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield Running(app, listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
    assert not thread.is_alive()
