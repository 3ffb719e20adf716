"""The routes of the page: its files, and its requests for data. A list for any Starlette application."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from elmo.apps.explore.data import Explorer, Object, UnknownTextError
from elmo.apps.explore.export import one_page
from elmo.apps.explore.fields import LONGEST_WORD, Fields
from elmo.errors import ElmoError

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 4_100_000  # of a body: a pasted text of a million characters, in any script
HEADERS = {
    # Pictures are drawn in the page and saved from it (blob:); nothing is loaded from anywhere else.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Files(StaticFiles):
    """The files of the page, with its headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or 404."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def explore_routes(explorer: Explorer) -> list[BaseRoute]:
    """`/` is the page, `/explore/static` its files, and `POST /explore/data/NAME` answers it."""

    async def page(_request: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    async def export(request: Request) -> Response:
        async def answer(fields: Fields) -> Response:
            words = fields.text("words", longest=20 * LONGEST_WORD).split()
            html = await run_in_threadpool(one_page, explorer, words)
            name = {"Content-Disposition": 'attachment; filename="elmo-explore.html"'}
            return Response(html, media_type="text/html", headers=name)

        return await _answered(request, answer)

    answers: dict[str, Callable[[Fields], Object]] = {
        "start": explorer.start,
        "words": explorer.words,
        "text": explorer.text,
        "uses": explorer.uses,
        "likeness": explorer.likeness,
        "clusters": explorer.clusters,
        "compare": explorer.compare,
        "neighbors": explorer.neighbors,
        "near": explorer.near,
        "tokens": explorer.tokens,
    }
    return [
        Route("/", page),
        *(Route(f"/explore/data/{name}", _data(answer), methods=["POST"]) for name, answer in answers.items()),
        Route("/explore/page", export, methods=["POST"]),
        Mount("/explore/static", Files(directory=STATIC)),
    ]


def _data(find: Callable[[Fields], Object]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(fields: Fields) -> Response:
        return JSONResponse(await run_in_threadpool(find, fields))

    async def route(request: Request) -> Response:
        return await _answered(request, answer)

    return route


async def _answered(request: Request, answer: Callable[[Fields], Awaitable[Response]]) -> Response:
    """The answer to a request whose body is a JSON object, or what is wrong with it in one sentence."""
    # Pages of other sites can post text without asking, but not JSON.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _refused(415, "the content type must be application/json")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            return _refused(413, f"the body has more than {MOST_BYTES} bytes")
    try:
        values: Any = json.loads(body)
    except (ValueError, RecursionError):
        return _refused(400, "the body is not JSON")
    try:
        return await answer(Fields(values))
    except UnknownTextError as error:
        return _refused(404, str(error))
    except ElmoError as error:
        return _refused(422, str(error))


def _refused(status: int, message: str) -> Response:
    """In the shape of the server's other errors."""
    error = {"message": message, "type": "invalid_request_error", "code": None, "param": None}
    return JSONResponse({"error": error}, status_code=status)
