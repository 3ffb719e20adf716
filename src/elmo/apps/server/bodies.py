"""The body of a request: its bytes counted while they are read and given a time, and JSON that is nothing but JSON."""

import asyncio
import json
from typing import Any

from starlette.requests import Request

from elmo.apps.server.calls import Call
from elmo.apps.server.limits import Limits
from elmo.apps.server.refusals import RefusedError

JSON = "application/json"
NESTING = 64  # more than any request has; the parser's own bound depends on the depth of the stack


async def read_json(request: Request, call: Call, limits: Limits) -> dict[str, Any]:
    """The JSON object that is the body of a request; anything else is refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RefusedError(
            415,
            f"the body's content type is {kind[:60] or 'not given'}; send JSON with the header 'Content-Type: {JSON}'",
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedError(415, "the body is compressed; send it as it is, without Content-Encoding")
    body = await _read(request, call, limits)
    try:
        values = json.loads(body.decode("utf-8"), parse_constant=_no_number)
        _check_depth(values)
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"the body is not UTF-8: byte {error.start}", code="invalid_json") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        said = error.args[0] if isinstance(error, json.JSONDecodeError) else "a number is too long"
        raise RefusedError(400, f"the body is not JSON: {said}", code="invalid_json") from None
    if not isinstance(values, dict):
        raise RefusedError(400, f"the body is a JSON {_kind(values)}; an object is wanted", code="invalid_json")
    return values


async def _read(request: Request, call: Call, limits: Limits) -> bytes:
    given = request.headers.get("content-length", "")
    if given.isdecimal() and int(given[:18]) > limits.most_bytes:
        raise _too_large(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.read_timeout):
            async for chunk in request.stream():
                call.hold_bytes(len(chunk))
                body += chunk
                if len(body) > limits.most_bytes:
                    raise _too_large(limits)
    except TimeoutError:
        raise RefusedError(
            408, f"the body did not arrive within {limits.read_timeout:g} seconds", headers={"Connection": "close"}
        ) from None
    return bytes(body)


def _too_large(limits: Limits) -> RefusedError:
    return RefusedError(413, f"the body is larger than {limits.most_bytes:,} bytes; send fewer texts in a request")


def _too_deep() -> RefusedError:
    return RefusedError(
        400, f"the body is not JSON that is wanted: nested more than {NESTING} deep", code="invalid_json"
    )


def _check_depth(values: Any) -> None:
    level = [values]
    for _ in range(NESTING):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> list[Any]:
    found = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return [inner for inner in found if isinstance(inner, list | dict)]


def _no_number(name: str) -> float:
    raise json.JSONDecodeError(f"{name} is no number of JSON", name, 0)


def _kind(value: Any) -> str:
    return {list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
