"""A connection as uvicorn has it, with what it lacks: a time for headers and for reading answers, errors as JSON."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from elmo.apps.server.refusals import RefusedError


class Connection(H11Protocol):
    """Closed when a request's headers take too long, or its answer is not read."""

    read_timeout: float
    write_timeout: float
    _reading: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """From here on headers are waited for."""
        super().connection_made(transport)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._reading = _stopped(self._reading)
        self._writing = _stopped(self._writing)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes came; of the next request, if none is being answered."""
        if self._is_idle() and self._reading is None:
            self._wait_for_headers()
        super().data_received(data)
        if not self._is_idle():
            self._reading = _stopped(self._reading)

    def pause_writing(self) -> None:
        """The client reads slower than answers come."""
        super().pause_writing()
        self._writing = self._writing or self.loop.call_later(self.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        self._writing = _stopped(self._writing)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """What is no HTTP; where an answer is under way, the connection just ends."""
        if self.conn.our_state is not h11.IDLE and self.conn.our_state is not h11.SEND_RESPONSE:
            self.transport.abort()
            return
        if self.cycle is not None and not self.cycle.response_complete:  # its body is broken, and it waits for that
            self.transport.abort()
            return
        self._end_with(RefusedError(400, "the request is not valid HTTP", code="invalid_http"))

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self._reading = self.loop.call_later(self.read_timeout, self._give_up)

    def _give_up(self) -> None:
        self._reading = None
        if not self._is_idle() or self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self._end_with(RefusedError(408, f"the headers did not arrive within {self.read_timeout:g} seconds"))
        else:
            self.transport.close()

    def _end_with(self, refusal: RefusedError) -> None:
        response = refusal.response()
        headers = [*response.raw_headers, (b"connection", b"close")]
        events: list[Any] = [
            h11.Response(status_code=refusal.status, headers=headers),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def connections(*, read_timeout: float, write_timeout: float) -> type[Connection]:
    """The class of connections with these times."""
    return type("TimedConnection", (Connection,), {"read_timeout": read_timeout, "write_timeout": write_timeout})


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
