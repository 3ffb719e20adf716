"""Running the application: uvicorn on a socket that is bound before, and an end that loses no request."""

import asyncio
import logging
import selectors
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from elmo.apps.server.connection import connections
from elmo.apps.server.service import Service
from elmo.errors import UserError

logger = logging.getLogger("elmo.server")

LAST_REQUESTS = 2.0  # seconds that a connection still has for a request which was on its way when the end was called
MOST_HEADERS = 32 * 1024  # bytes
KEEP_ALIVE = 75  # seconds, longer than proxies keep a connection that they do not use


class Server(uvicorn.Server):
    """Takes no new connections at its end, and answers what comes over those that there are."""

    def __init__(self, config: uvicorn.Config, service: Service, *, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = service
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and tell."""
        await super().startup(sockets)
        if self.started:
            self._told()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Not ready any more; then no new connections; then idle ones are closed, and the others answered."""
        self._service.drain()
        logger.info("stopping", extra={"facts": {"waiting_tokens": self._service.load.tokens}})
        loop = asyncio.get_running_loop()
        end = loop.time() + LAST_REQUESTS
        for listening in self.servers:
            await pick_up(listening, lambda: loop.time() > end or self.force_exit)
            listening.close()
        while self.server_state.connections and loop.time() < end and not self.force_exit:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)
        logger.info("stopped", extra={"facts": {"requests": self.server_state.total_requests}})

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - uvicorn's signature
        """The first signal ends the server; a second Ctrl-C does not wait. The exit code is 0 either way."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


async def pick_up(listening: asyncio.Server, is_over: Callable[[], bool]) -> None:
    """Take the connections that the system has taken for us: it would reset them."""
    while _is_waited_at(listening) and not is_over():
        await asyncio.sleep(0)
    # asyncio makes a connection in two turns behind the one that accepts it, and drops it if the server is closed then.
    for _ in range(2):
        await asyncio.sleep(0)


def _is_waited_at(listening: asyncio.Server) -> bool:
    """Whether a client has connected that was not picked up yet."""
    with selectors.DefaultSelector() as selector:
        for taken in listening.sockets:
            selector.register(taken, selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise UserError(
            f"{host}:{port}: cannot be listened on ({error.strerror or error}); choose another --host or --port"
        ) from error
    except OverflowError:
        listening.close()
        raise UserError(f"--port is {port}; it must be a number from 0 to 65535") from None
    return listening


def serve(app: Starlette, listening: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Answer until SIGTERM or Ctrl-C; `started` is called when connections are taken."""
    make_server(app, started=started).run(sockets=[listening])


def make_server(app: Starlette, *, started: Callable[[], None] = lambda: None) -> Server:
    """The server of an application, ready to run on sockets."""
    service: Service = app.state.service
    limits = service.limits
    config = uvicorn.Config(
        app,
        http=connections(read_timeout=limits.read_timeout, write_timeout=limits.timeout),
        ws="none",
        lifespan="on",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        h11_max_incomplete_event_size=MOST_HEADERS,
    )
    return Server(config, service, started=started)
