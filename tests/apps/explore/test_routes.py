"""The page's routes in the real server: files with a strict policy, data as JSON, refusals with a sentence."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the extra `serve` is not installed")

from tests.apps.server.running import Running, running

from elmo.apps.cli import main
from elmo.apps.explore.data import Explorer
from elmo.apps.explore.routes import STATIC, explore_routes
from elmo.apps.server.app import make_app


@pytest.fixture(scope="module")
def server(explorer: Explorer) -> Iterator[Running]:
    app = make_app(explorer.embedder, hosts=("127.0.0.1",), extra_routes=explore_routes(explorer))
    with running(app) as found:
        yield found


def test_the_page_and_its_files_have_a_strict_policy(server: Running) -> None:
    page = server.get("/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    names = [path.name for path in STATIC.iterdir()]
    for reply in [page, *(server.get(f"/explore/static/{name}") for name in names)]:
        assert reply.status == 200
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
    assert server.get("/explore/static/main.js").headers["content-type"].startswith("text/javascript")
    assert server.get("/explore/static/../routes.py").status == 404


def test_data_are_those_of_the_explorer(server: Running, explorer: Explorer) -> None:
    found = server.post("/explore/data/uses", {"word": "play", "most": 10})
    assert found.status == 200
    assert len(found.json["uses"]) == 10
    start = server.post("/explore/data/start", {}).json
    assert start["examples"] == explorer.examples()
    likeness = server.post("/explore/data/likeness", {"word": "play", "most": 10, "use": 2, "centred": True}).json
    assert likeness["cosines"][2][2] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("uses", {}, 422, "word is missing"),
        ("uses", {"word": "zebras"}, 422, "choose another word"),
        ("uses", {"word": "bank", "most": 10**9}, 422, "most is 1000000000"),
        ("uses", {"word": "bank", "text": "0123456789abcdef"}, 404, "paste it again"),
        ("likeness", {"word": "bank", "use": -1}, 422, "use is -1"),
        ("clusters", {"word": "bank", "layer": 3}, 422, "layer is 3"),
        ("compare", {"first": "One."}, 422, "second is missing"),
        ("near", {"sentence": "One.", "place": "x"}, 422, "place is 'x'"),
        ("text", {"content": 7}, 422, "content is 7"),
    ],
)
def test_wrong_requests_are_refused_by_name(
    server: Running, path: str, body: object, status: int, message: str
) -> None:
    reply = server.post(f"/explore/data/{path}", body)
    assert reply.status == status
    assert message in reply.error["message"]


def test_other_sites_can_neither_ask_nor_reach_it_by_another_name(server: Running) -> None:
    plain = server.post("/explore/data/start", {}, headers={"Content-Type": "text/plain"})
    assert plain.status == 415
    assert server.get("/", headers={"Host": "evil.example"}).status == 421


def test_the_page_as_one_file_is_a_download(server: Running) -> None:
    reply = server.post("/explore/page", {"words": "bank play"})
    assert reply.status == 200
    assert "attachment" in reply.headers["content-disposition"]
    assert b"<!doctype html>" in reply.body[:20]


def test_a_server_with_a_key_has_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--explore", "--api-key", "secret", "--port", "0"]) == 2
    assert "browsers, which bring no key" in capsys.readouterr().err
