"""The routes of the page for the server: its files, and its requests for data."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from elmo.apps.explore.data import MOST_USES, USES, Explorer, Object, UnknownTextError, UsesQuestion
from elmo.apps.explore.export import one_page
from elmo.apps.server.answers import WholeAnswer, answer_json
from elmo.apps.server.bodies import read_json
from elmo.apps.server.fields import RequestFields
from elmo.apps.server.refusals import RefusedError
from elmo.errors import UserError

STATIC = Path(__file__).parent / "static"
HEADERS = {
    # Pictures are drawn in the page and saved from it (blob:); nothing is loaded from anywhere else.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
LARGE = 1 << 30  # any number that is checked elsewhere


class Files(StaticFiles):
    """The files of the page, with its headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or 404."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def explore_routes(explorer: Explorer) -> list[BaseRoute]:
    """`/` is the page, `/explore/static` its files, and `POST /explore/data/NAME` answers it."""
    top = explorer.embedder.layer_count - 1

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    def use(fields: RequestFields) -> int:
        return int(fields.integer("use", 0, least=0, most=MOST_USES))

    answers: dict[str, Callable[[RequestFields], Object]] = {
        "start": lambda _: explorer.start(),
        "words": lambda fields: explorer.words(fields.text("text", "")),
        "text": lambda fields: explorer.take_text(fields.text("content")),
        "uses": lambda fields: explorer.uses(wanted(fields)),
        "likeness": lambda fields: explorer.likeness(
            wanted(fields), use(fields), centred=fields.flag("centred", default=False)
        ),
        "clusters": lambda fields: explorer.clusters(wanted(fields), fields.integer("layer", top, least=0, most=top)),
        "neighbors": lambda fields: explorer.neighbors(wanted(fields), use(fields)),
        "near": lambda fields: explorer.near(
            fields.text("sentence"), fields.integer("place", 0, least=0, most=LARGE), fields.text("text", "")
        ),
        "compare": lambda fields: explorer.compare(
            fields.text("first"), fields.text("second"), centred=fields.flag("centred", default=False)
        ),
        "tokens": lambda fields: explorer.tokens(fields.text("sentence")),
    }
    routes = [_route(f"/explore/data/{name}", _as_json(answer)) for name, answer in answers.items()]
    return [
        Route("/", page),
        *routes,
        _route("/explore/page", lambda fields: _as_page(explorer, fields.text("words").split())),
        Mount("/explore/static", Files(directory=STATIC)),
    ]


def wanted(fields: RequestFields) -> UsesQuestion:
    """Which uses a request is about."""
    return UsesQuestion(
        fields.text("word"),
        fields.text("text", ""),
        fields.integer("most", USES, least=3, most=MOST_USES),
        fields.flag("ignore_case", default=False),
    )


def _as_json(find: Callable[[RequestFields], Object]) -> Callable[[RequestFields], Response]:
    return lambda fields: answer_json(find(fields))


def _as_page(explorer: Explorer, words: list[str]) -> Response:
    name = {"Content-Disposition": 'attachment; filename="elmo-explore.html"'}
    return WholeAnswer(one_page(explorer, words).encode("utf-8"), media_type="text/html", headers=name)


def _route(path: str, answer: Callable[[RequestFields], Response]) -> Route:
    """A route whose answer to the fields of a JSON object is found in a thread."""

    async def endpoint(request: Request) -> Response:
        call, limits = request.state.call, request.app.state.service.limits
        call.route = path
        fields = RequestFields(await read_json(request, call, limits), limits)
        try:
            return await asyncio.to_thread(answer, fields)
        except UnknownTextError as error:
            raise RefusedError(404, str(error)) from None
        except UserError as error:
            raise RefusedError(422, str(error)) from None

    return Route(path, endpoint, methods=["POST"])
