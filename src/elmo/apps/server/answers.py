"""How answers go out: whole where they are short, in parts where they are long, never faster than they are read."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE = 1 << 16  # bytes handed to the connection at once, which then waits until the client has read
WHOLE = 4 << 20  # an answer up to this size has a length, and can still become an error while it is made


class WholeAnswer(Response):
    """Bytes with their length, sent piece by piece."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await _send_body(bytes(self.body), send, more=False)


class StreamedAnswer(Response):
    """Parts of unknown number; the first are there already."""

    def __init__(self, first: bytes, rest: AsyncIterator[bytes], *, media_type: str) -> None:
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._first, self._rest = first, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the parts as they come."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await _send_body(self._first, send, more=True)
        async for part in self._rest:
            await _send_body(part, send, more=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_body(body: bytes, send: Send, *, more: bool) -> None:
    for start in range(0, max(1, len(body)), PIECE):
        piece = body[start : start + PIECE]
        await send({"type": "http.response.body", "body": piece, "more_body": more or start + PIECE < len(body)})


async def answer_parts(parts: AsyncIterator[bytes], *, media_type: str, at_once: bool) -> Response:
    """An answer of parts: whole if it stays short, otherwise, or if so wanted, streamed from its first part on."""
    gathered: list[bytes] = []
    length = 0
    async for part in parts:
        gathered.append(part)
        length += len(part)
        if at_once or length > WHOLE:
            return StreamedAnswer(b"".join(gathered), parts, media_type=media_type)
    return WholeAnswer(b"".join(gathered), media_type=media_type)


def answer_json(values: Mapping[str, Any]) -> Response:
    """An object as JSON."""
    return WholeAnswer(json.dumps(values, ensure_ascii=False, allow_nan=False).encode(), media_type="application/json")


async def off_loop(length: int, function: Any, *arguments: Any) -> Any:
    """Call a function here, or in a thread where `length` numbers would keep others waiting."""
    if length <= 4096:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)
