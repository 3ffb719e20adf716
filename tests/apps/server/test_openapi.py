"""The OpenAPI document names every route and nothing else, and its schemas agree with what is refused."""

from typing import Any

import pytest
from starlette.routing import Route
from tests.apps.server.running import Running

from elmo.apps.server.openapi import MEANING


def test_the_document_has_every_route_and_no_other(server: Running) -> None:
    document = server.get("/openapi.json").json
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    routes = {
        (route.path, method)
        for route in server.app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert described == routes
    assert document["openapi"] == "3.1.0"


def test_every_field_that_is_described_is_taken_and_no_other(server: Running) -> None:
    """A field of the schema is never unknown; one beside them always is."""
    for path, methods in server.get("/openapi.json").json["paths"].items():
        if "post" not in methods:
            continue
        described = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        for schema in described.get("anyOf", [described]):
            assert schema["additionalProperties"] is False
            body: dict[str, Any] = dict.fromkeys(schema["properties"])
            body |= dict.fromkeys(schema["required"], "bank")
            reply = server.post(path, body)
            assert reply.status == 200, (path, reply.body)
            reply = server.post(path, {**body, "other": 1})
            assert (reply.status, reply.error["code"]) == (422, "unknown_field"), path


def test_every_status_has_a_meaning(server: Running) -> None:
    for methods in server.get("/openapi.json").json["paths"].values():
        for operation in methods.values():
            for status in operation["responses"]:
                assert status == "200" or int(status) in MEANING


@pytest.mark.parametrize("path", ["/info", "/v1/models", "/health", "/ready", "/metrics", "/openapi.json"])
def test_what_a_get_answers_is_described(server: Running, path: str) -> None:
    described = server.get("/openapi.json").json["paths"][path]["get"]["responses"]["200"]["content"]
    reply = server.get(path)
    assert reply.status == 200
    assert reply.headers["content-type"].partition(";")[0] in described
