"""The gate: every request passes it first and last. Key, host, time-out, refusals, the log and the metrics are here."""

import asyncio
import hmac
import logging
import time
import traceback

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elmo.apps.server.calls import Call
from elmo.apps.server.refusals import RefusedError
from elmo.apps.server.service import Service

logger = logging.getLogger("elmo.server")

GONE = 499  # in the log: the client did not wait for the answer


class Gate:
    """Around the routes of a server. `open_paths` need no key."""

    def __init__(self, app: ASGIApp, *, service: Service, open_paths: frozenset[str]) -> None:
        self._app = app
        self._service = service
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; never raises."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service, begin = self._service, time.perf_counter()
        call = Call(service.load)
        scope.setdefault("state", {})["call"] = call
        sent = _Sent(send, service, call)
        try:
            await self._answer(scope, receive, sent, call)
        finally:
            call.close()
            self._tell(scope, call, sent, time.perf_counter() - begin)

    async def _answer(self, scope: Scope, receive: Receive, sent: "_Sent", call: Call) -> None:
        limits = self._service.limits
        try:
            async with asyncio.timeout(limits.timeout):
                self._check(scope)
                await self._app(scope, receive, sent)
        except RefusedError as refusal:
            await sent.refuse(refusal, scope, receive)
        except ClientDisconnect:  # in the middle of its body
            call.is_gone = True
        except asyncio.CancelledError:
            if not call.is_gone:
                raise
        except TimeoutError:
            message = f"no answer within {limits.timeout:g} seconds; send fewer texts in a request, or try again later"
            await sent.refuse(RefusedError(503, message, code="timeout", headers={"Retry-After": "10"}), scope, receive)
        except Exception as error:
            logger.error("error", extra={"facts": {"error": type(error).__name__, "frames": frames(error)}})
            await sent.refuse(_failure(error), scope, receive)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        service = self._service
        if service.hosts is not None and host_name(headers.get("host", "")) not in service.hosts:
            raise RefusedError(
                421,
                "this server answers to " + ", ".join(sorted(service.hosts)) + "; for another name start it with "
                "--allow-host NAME",
                code="unknown_host",
            )
        if service.key is not None and scope["path"] not in self._open_paths:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), service.key.encode()):
                message = "the key is wrong" if given else "a key is wanted: 'Authorization: Bearer KEY'"
                raise RefusedError(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        if scope["method"] == "POST":
            service.load.check()

    def _tell(self, scope: Scope, call: Call, sent: "_Sent", seconds: float) -> None:
        metrics = self._service.metrics
        status = GONE if call.is_gone or not sent.is_complete else sent.status
        metrics.requests.labels(call.route, status).inc()
        metrics.seconds.labels(call.route).observe(seconds)
        if status == GONE:
            metrics.dropped.inc()
        if status == 429:
            metrics.refused.inc()
        facts = {"method": scope["method"][:16], "route": call.route, "status": status, "seconds": round(seconds, 4)}
        logger.info("request", extra={"facts": {**facts, "tokens": call.tokens}})


class _Sent:
    """What is sent of an answer, watched; with `Connection: close` where the server is about to end."""

    def __init__(self, send: Send, service: Service, call: Call) -> None:
        self._send, self._service, self._call = send, service, call
        self.status: int | None = None
        self.is_complete = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-content-type-options", b"nosniff")]
            if self._service.is_draining and (b"connection", b"close") not in message["headers"]:
                own.append((b"connection", b"close"))
            message = {**message, "headers": [*message["headers"], *own]}
        elif not message.get("more_body", False):
            self._call.stop_watching()  # a connection says of a request that is answered that its client is gone
            self.is_complete = True
        await self._send(message)

    async def refuse(self, refusal: RefusedError, scope: Scope, receive: Receive) -> None:
        """Answer with a refusal; where an answer has begun, it stays unfinished and the connection is closed."""
        if self.status is None:
            await refusal.response()(scope, receive, self)


def _failure(error: Exception) -> RefusedError:
    if isinstance(error, MemoryError) or "out of memory" in str(error):
        message = "there is not enough memory for this request now; send fewer texts, or try again later"
        return RefusedError(503, message, code="out_of_memory", headers={"Retry-After": "10"})
    return RefusedError(500, "the server made a mistake; its log says where", code="internal_error")


def host_name(header: str) -> str:
    """The name in a Host header, without the port."""
    name = header.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]


def frames(error: BaseException) -> list[str]:
    """Where an error comes from, without its message, which may quote a text."""
    found = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in found]
