"""`make_app`: the server as an ASGI application, over an embedder that is given."""

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

import elmo
from elmo.apps.server.about import ABOUT
from elmo.apps.server.embeddings import embeddings_operation
from elmo.apps.server.gate import Gate
from elmo.apps.server.limits import Limits
from elmo.apps.server.openapi import openapi_document
from elmo.apps.server.operations import Operation
from elmo.apps.server.predicting import predict_operation
from elmo.apps.server.refusals import RefusedError
from elmo.apps.server.service import ALIAS, Service
from elmo.apps.server.tokenizing import TOKENIZE
from elmo.apps.server.tokenvectors import embed_tokens_operation
from elmo.apps.server.words import word_operations
from elmo.errors import ConfigError

if TYPE_CHECKING:
    from elmo.analysis.index.wordindex import WordIndex
    from elmo.embed.embedder import Embedder
    from elmo.tasks.training.trained import TrainedTask


def make_app(
    embedder: "Embedder",
    *,
    name: str = ALIAS,
    limits: Limits | None = None,
    index: "WordIndex | None" = None,
    tasks: "Mapping[str, TrainedTask] | None" = None,
    key: str | None = None,
    origins: Sequence[str] = (),
    hosts: Iterable[str] | None = None,
    extra_routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """The application. Its `state.service` is the `Service`; the model's thread runs for the time of its lifespan.

    `name`: what the model is called in answers. `index`: what /neighbors and /search look into. `tasks`: what /predict
    answers, by name. `key`: what requests must bring. `origins`: web pages that may ask.
    `hosts`: names that it answers to, any if None. `extra_routes`: more routes, which find `request.app.state.service`
    and `request.state.call`, and need the key too.
    """
    if embedder.state == "carry":
        raise ConfigError("state is 'carry', but a server answers many at once; use 'settled' or 'zero'")
    if index is not None:
        index.check_model(embedder)
    service = Service(
        embedder=embedder,
        limits=limits or Limits(),
        name=name,
        tasks=dict(tasks or {}),
        index=index,
        key=key,
        hosts=None if hosts is None else frozenset(host.lower() for host in hosts),
    )
    operations = _operations(service)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            await service.stop()

    open_paths = frozenset(operation.path for operation in operations if operation.is_open)
    middleware = [Middleware(Gate, service=service, open_paths=open_paths)]
    if origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After"],
        )
        middleware.insert(0, cors)
    app = Starlette(
        routes=[*(operation.route() for operation in operations), *extra_routes],
        middleware=middleware,
        exception_handlers={HTTPException: _refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service = service
    app.state.openapi = openapi_document(operations, version=elmo.__version__, has_key=key is not None)
    return app


def _operations(service: Service) -> list[Operation]:
    vectors = [embeddings_operation(service), embed_tokens_operation(service), TOKENIZE]
    predict = [predict_operation(service)] if service.tasks else []
    return [*vectors, *word_operations(service), *predict, *ABOUT]


async def _refuse(_: Request, error: Exception) -> Response:
    """Starlette's own refusals: no such path, or not with this method."""
    assert isinstance(error, HTTPException)
    said = {
        404: "no such path; /openapi.json lists those that there are",
        405: f"this path does not know the method; it knows {(error.headers or {}).get('Allow', 'others')}",
    }
    headers = dict(error.headers or {})
    return RefusedError(error.status_code, said.get(error.status_code, error.detail), headers=headers).response()
