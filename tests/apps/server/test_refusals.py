"""What a server refuses, with which status and which words: sizes, fields, keys, hosts, pages, paths."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.apps.server.conftest import LIMITS
from tests.apps.server.running import PATIENCE, Running, running

from elmo.apps.server.app import make_app
from elmo.apps.server.limits import Limits
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

ASK = {"input": "The bank."}


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/v1/embeddings", {}, 422, "input is missing"),
        ("/v1/embeddings", {"input": []}, 422, "input is empty"),
        ("/v1/embeddings", {"input": 5}, 422, "input is 5; a string or a list of strings is wanted"),
        ("/v1/embeddings", {"input": [1, 2]}, 422, "check_embedding_ctx_length=False"),
        ("/v1/embeddings", {"input": [[1, 2]]}, 422, "check_embedding_ctx_length=False"),
        ("/v1/embeddings", {"input": ["a", None]}, 422, "input[1] is null; a string is wanted"),
        ("/v1/embeddings", {"input": [["a"]]}, 422, "input[0] is a list; a string is wanted"),
        ("/v1/embeddings", {**ASK, "model": "text-embedding-3-small"}, 404, "this server has 'tiny'"),
        ("/v1/embeddings", {**ASK, "dimensions": 15.0}, 422, "this model's vectors have 16"),
        ("/v1/embeddings", {**ASK, "encoding_format": "int8"}, 422, "must be one of float, base64"),
        ("/v1/embeddings", {**ASK, "normalise": True}, 422, "'normalise' is no field of this request"),
        ("/v1/embeddings", {"input": "half \ud83d"}, 422, "half a character (a lone surrogate) at position 5"),
        ("/v1/embeddings", {"input": ["a"] * 21}, 413, "input has 21 texts, but 20 are allowed"),
        ("/v1/embeddings", {"input": "a " * 401}, 413, "has 401 tokens, but 400 are allowed"),
        ("/v1/embeddings", {"input": "a" * 20_000}, 413, "larger than 20,000 bytes"),
        ("/embed_tokens", {"inputs": ["a", ["b"]]}, 422, "inputs[1] is a list; a string is wanted"),
        ("/embed_tokens", {"inputs": [["a"], "b"]}, 422, "give one or the other"),
        ("/embed_tokens", {"inputs": [["a", 1]]}, 422, "has a token that is 1"),
        ("/embed_tokens", {"inputs": "a", "layers": 3}, 422, "layers is 3; it must be mean, top, all, or a number"),
        ("/embed_tokens", {"inputs": "a", "layers": True}, 422, "layers is true"),
        ("/embed_tokens", {"inputs": "a", "layers": 1.5}, 422, "layers is 1.5"),
        ("/embed_tokens", {"inputs": "a", "normalize": "no"}, 422, "normalize is 'no'; true or false is wanted"),
        ("/embed_tokens", {"inputs": "a", "dtype": "int8"}, 422, "dtype is 'int8'"),
        ("/tokenize", {"inputs": {"a": 1}}, 422, "inputs is an object"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    server: Running, path: str, body: dict[str, Any], status: int, said: str
) -> None:
    reply = server.post(path, body)
    assert reply.status == status, reply.body[:300]
    assert said in reply.error["message"]
    assert reply.error["type"] == ("not_found_error" if status == 404 else "invalid_request_error")
    assert set(reply.error) == {"message", "type", "code", "param"}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "the body is not JSON"),
        (b"{", 400, "the body is not JSON"),
        (b'{"input": NaN}', 400, "NaN is no number of JSON"),
        (b'{"dimensions": 1' + b"0" * 5000 + b"}", 400, "a number is too long"),
        (b"[1]", 400, "the body is a JSON array; an object is wanted"),
        (b"null", 400, "the body is a JSON null"),
        (b"\xff\xfe{\x00}\x00", 400, "the body is not UTF-8: byte 0"),
        (b"\xef\xbb\xbf{}", 400, "the body is not JSON"),
        (b'{"input": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400, "nested more than 64 deep"),
        (b'{"input": ' + b"[" * 65 + b"]" * 65 + b"}", 400, "nested more than 64 deep"),
    ],
)
def test_what_is_no_json_is_told_so(server: Running, body: bytes, status: int, said: str) -> None:
    reply = server.post("/v1/embeddings", body, raw=True)
    assert (reply.status, said in reply.error["message"]) == (status, True), reply.error


def test_the_body_must_be_sent_as_json(server: Running) -> None:
    reply = server.post("/v1/embeddings", ASK, headers={"Content-Type": "text/plain"})
    assert (reply.status, "Content-Type: application/json" in reply.error["message"]) == (415, True)
    assert server.post("/v1/embeddings", ASK, headers={"Content-Encoding": "gzip"}).status == 415
    assert server.post("/v1/embeddings", ASK, headers={"Content-Type": "APPLICATION/JSON; charset=utf-8"}).status == 200


def test_an_unknown_format_is_refused_with_those_that_there_are(server: Running) -> None:
    reply = server.post("/embed_tokens", {"inputs": "a"}, headers={"Accept": "text/html;q=1, image/*"})
    assert (reply.status, "application/x-npz" in reply.error["message"]) == (406, True)


def test_unknown_paths_and_methods_are_refused_in_the_same_shape(server: Running) -> None:
    assert server.get("/nothing").error["message"] == "no such path; /openapi.json lists those that there are"
    reply = server.get("/v1/embeddings")
    assert (reply.status, reply.headers["allow"]) == (405, "POST")
    assert "POST" in reply.error["message"]


def test_a_body_without_a_length_is_counted_while_it_is_read(server: Running) -> None:
    connection = server.connect()
    chunks = (b" " * 5000 for _ in range(5))
    connection.request("POST", "/v1/embeddings", chunks, {"Content-Type": "application/json"}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_nulls_stand_for_what_is_left_out(server: Running) -> None:
    body = {**ASK, "model": None, "dimensions": None, "encoding_format": None, "user": None}
    assert server.post("/v1/embeddings", body).json == server.post("/v1/embeddings", ASK).json


def test_a_key_is_asked_for(embedder: Embedder) -> None:
    with running(make_app(embedder, key="swordfish")) as server:
        assert server.get("/health").status == 200
        assert server.get("/openapi.json").status == 401
        wrong = server.post("/v1/embeddings", ASK, headers={"Authorization": "Bearer swordfisH"})
        assert (wrong.status, wrong.error["code"]) == (401, "invalid_api_key")
        assert wrong.headers["www-authenticate"] == "Bearer"
        missing = server.post("/v1/embeddings", ASK)
        assert "Authorization: Bearer KEY" in missing.error["message"]
        right = {"Authorization": "Bearer swordfish"}
        assert server.post("/v1/embeddings", ASK, headers=right).status == 200
        assert server.get("/nothing").status == 401
        document = server.get("/openapi.json", headers=right).json
        assert document["paths"]["/v1/embeddings"]["post"]["security"] == [{"key": []}]
        assert "security" not in document["paths"]["/health"]["get"]


def test_pages_may_ask_only_where_they_are_named(server: Running, embedder: Embedder) -> None:
    page = {"Origin": "https://here.example"}
    assert "access-control-allow-origin" not in server.post("/v1/embeddings", ASK, headers=page).headers
    with running(make_app(embedder, origins=["https://here.example"], key="swordfish")) as open_to_it:
        asked = {**page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        before = open_to_it.ask("OPTIONS", "/v1/embeddings", headers=asked)
        assert before.headers["access-control-allow-origin"] == "https://here.example"
        refused = open_to_it.post("/v1/embeddings", ASK, headers=page)
        assert refused.status == 401
        assert refused.headers["access-control-allow-origin"] == "https://here.example"
        other = open_to_it.post("/v1/embeddings", ASK, headers={"Origin": "https://there.example"})
        assert "access-control-allow-origin" not in other.headers


def test_a_server_answers_to_its_names(embedder: Embedder) -> None:
    with running(make_app(embedder, hosts=["localhost", "[::1]", "Vectors.example"])) as server:
        for host, status in {
            "localhost:8400": 200,
            "[::1]:8400": 200,
            "vectors.example": 200,
            "evil.example": 421,
            "localhost.evil.example": 421,
            "": 421,
        }.items():
            assert server.get("/health", headers={"Host": host}).status == status, host


def test_more_than_may_wait_is_refused_with_a_time_to_come_again(embedder: Embedder) -> None:
    app = make_app(embedder, limits=replace(LIMITS, most_waiting_tokens=8))
    with running(app) as server:
        load = server.service.load
        load.tokens += 5  # as if a request were waiting
        reply = server.post("/v1/embeddings", {"input": "one two three four"})
        assert (reply.status, reply.error["type"]) == (429, "rate_limit_error")
        assert 1 <= int(reply.headers["retry-after"]) <= 60
        assert server.post("/v1/embeddings", {"input": "one two"}).status == 200
        load.tokens += 3
        assert server.post("/v1/embeddings", {"input": "one"}).status == 429
        assert "elmo_refused_total 2.0" in server.get("/metrics").body.decode()
        load.tokens -= 8
        assert server.post("/v1/embeddings", {"input": "a " * 9}).status == 200  # alone it may have more


def test_too_many_bytes_at_once_are_refused(embedder: Embedder) -> None:
    with running(make_app(embedder, limits=LIMITS)) as server:
        server.service.load.bytes += LIMITS.most_bytes_at_once
        assert server.post("/v1/embeddings", ASK).status == 429
        server.service.load.bytes -= LIMITS.most_bytes_at_once
        assert server.post("/v1/embeddings", ASK).status == 200
        assert "elmo_waiting_tokens 0.0" in server.get("/metrics").body.decode()


@pytest.mark.parametrize("field", ["most_bytes", "most_tokens", "batch_tokens", "timeout"])
def test_a_limit_is_more_than_nothing(field: str) -> None:
    with pytest.raises(ConfigError, match=f"{field} is 0; it must be more than 0"):
        Limits(**{field: 0})


def test_a_state_that_is_carried_is_refused(embedder: Embedder) -> None:
    carrying = Embedder(LoadedModel(bilm=embedder.model.bilm, tokenizer=Tokenizer()), device="cpu", state="carry")
    with pytest.raises(ConfigError, match="state is 'carry'"):
        make_app(carrying)


def test_errors_are_json_also_where_the_request_is_no_http(server: Running) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["code"] == "invalid_http"
