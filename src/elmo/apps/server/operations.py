"""`Operation`: a route with its handler and all that /openapi.json says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from elmo.apps.server.service import Handler

Schema = Mapping[str, Any]
OBJECT: Schema = {"type": "object"}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One route. `body` is the schema of a request's JSON object, `answers` the schema of each media type."""

    method: Literal["GET", "POST"]
    path: str
    summary: str
    handler: Handler
    body: Schema | None = None
    answers: Mapping[str, Schema] = field(default_factory=lambda: {"application/json": OBJECT})
    refusals: tuple[int, ...] = ()  # besides those that every POST has
    is_open: bool = False  # whether it is answered without the key

    def route(self) -> Route:
        """The route for Starlette."""

        async def endpoint(request: Request) -> Response:
            call = request.state.call
            call.route = self.path
            return await self.handler(request.app.state.service, call, request)

        return Route(self.path, endpoint, methods=[self.method])


def object_of(properties: Schema, *, required: tuple[str, ...] = ()) -> Schema:
    """The schema of a request: nothing but these fields."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
