"""/openapi.json: the document about a server's operations, made from what they say of themselves."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from elmo.apps.server.operations import Operation
from elmo.apps.server.schemas import STRING, answer_of

EVERY = (408, 421, 503)  # refusals that any request may meet
OF_A_POST = (400, 413, 415, 422, 429)
MEANING = {
    400: "The body is not JSON, or not an object.",
    401: "The key is missing or wrong.",
    404: "Another model's name, or a thing that this server was not started with.",
    406: "No format of Accept is given here.",
    408: "The body did not arrive in time.",
    413: "Too many bytes, texts or tokens.",
    415: "The body is not sent as JSON.",
    421: "The Host header has a name that this server does not answer to.",
    422: "A field is missing, unknown, or cannot be used.",
    429: "Too much is waiting; Retry-After says when to come again.",
    503: "Not within the time-out, or not ready.",
}
NULL_OR_STRING = {"type": ["string", "null"]}


def openapi_document(operations: Iterable[Operation], *, version: str, has_key: bool) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, has_key=has_key)
    error = answer_of({"message": STRING, "type": STRING, "code": STRING, "param": NULL_OR_STRING})
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "elmo", "version": version, "description": "Contextual word vectors over HTTP."},
        "paths": paths,
        "components": {"schemas": {"Error": answer_of({"error": error})}},
    }
    if has_key:
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return document


def _described(operation: Operation, *, has_key: bool) -> dict[str, Any]:
    answers: dict[str, Any] = {
        "200": {
            "description": "The answer.",
            "content": {name: {"schema": schema} for name, schema in operation.answers.items()},
        }
    }
    refusals = {*EVERY, *operation.refusals, *(OF_A_POST if operation.method == "POST" else ())}
    if has_key and not operation.is_open:
        refusals.add(401)
    for status in sorted(refusals):
        answers[str(status)] = {
            "description": MEANING.get(status, HTTPStatus(status).phrase),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
    described: dict[str, Any] = {"summary": operation.summary, "responses": answers}
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": operation.body}}}
    if has_key and not operation.is_open:
        described["security"] = [{"key": []}]
    return described
