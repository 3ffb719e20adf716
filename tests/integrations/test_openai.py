"""OpenAI's own client, LangChain's and Haystack's classes over it, and curl, all against a real server on loopback."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.apps.server.running import Running, running
from tests.integrations.making import TEXTS, write_tiny

import elmo
from elmo.apps.server.app import make_app
from elmo.embed.embedder import Embedder

pytestmark = pytest.mark.integration
NEAR = 1e-6
KEY = "swordfish"


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return elmo.load(write_tiny(tmp_path_factory.mktemp("openai") / "tiny"), device="cpu")


@pytest.fixture(scope="module")
def server(embedder: Embedder) -> Iterator[Running]:
    with running(make_app(embedder, name="tiny", key=KEY)) as found:
        yield found


@pytest.fixture(scope="module")
def wanted(embedder: Embedder) -> np.ndarray:
    return embedder.encode(TEXTS, pooling="mean")


def assert_near(found: object, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(np.array(found), wanted, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("encoding", [None, "float", "base64"])
def test_openais_client_gets_the_vectors_of_encode(server: Running, wanted: np.ndarray, encoding: str | None) -> None:
    openai = pytest.importorskip("openai")
    options = {} if encoding is None else {"encoding_format": encoding}
    with openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=KEY) as client:
        assert [model.id for model in client.models.list().data] == ["tiny"]
        answer = client.embeddings.create(model="tiny", input=TEXTS, **options)
        one = client.embeddings.create(model="elmo", input=TEXTS[0]).data[0].embedding
    found = [item.embedding for item in answer.data]
    if encoding == "base64":
        found = [np.frombuffer(base64.b64decode(item), dtype="<f4") for item in found]
    assert_near(found, wanted)
    assert_near(one, wanted[0])
    assert answer.usage.total_tokens == answer.usage.prompt_tokens > len(TEXTS)


def test_openais_client_shows_what_is_wrong(server: Running) -> None:
    openai = pytest.importorskip("openai")
    base_url = f"http://127.0.0.1:{server.port}/v1"
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        with pytest.raises(openai.NotFoundError, match="this server has 'tiny'"):
            client.embeddings.create(model="text-embedding-3-small", input="a")
        with pytest.raises(openai.UnprocessableEntityError, match="token ids of another model"):
            client.embeddings.create(model="tiny", input=[[1, 2, 3]])
    with (
        openai.OpenAI(base_url=base_url, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="the key is wrong"),
    ):
        client.embeddings.create(model="tiny", input="a")


def test_langchains_class_gets_the_vectors_of_encode(server: Running, wanted: np.ndarray) -> None:
    library = pytest.importorskip("langchain_openai")
    embeddings = library.OpenAIEmbeddings(
        base_url=f"http://127.0.0.1:{server.port}/v1", api_key=KEY, model="tiny", check_embedding_ctx_length=False
    )
    assert_near(embeddings.embed_documents(TEXTS), wanted)
    assert_near(embeddings.embed_query(TEXTS[1]), wanted[1])


def test_haystacks_class_gets_the_vectors_of_encode(
    server: Running, wanted: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("haystack")
    from haystack.components.embedders import OpenAITextEmbedder

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = OpenAITextEmbedder(api_base_url=f"http://127.0.0.1:{server.port}/v1", model="tiny")
    assert_near(embedder.run(TEXTS[0])["embedding"], wanted[0])


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_gets_the_vectors_of_encode(server: Running, wanted: np.ndarray, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps({"input": TEXTS}), encoding="utf-8")
    done = subprocess.run(
        [
            *("curl", "-sS", "--fail", "--noproxy", "*", f"http://127.0.0.1:{server.port}/v1/embeddings"),
            *("-H", "Content-Type: application/json", "-H", f"Authorization: Bearer {KEY}"),
            *("-d", f"@{tmp_path / 'body.json'}"),
        ],
        capture_output=True,
        check=True,
    )
    assert_near([item["embedding"] for item in json.loads(done.stdout)["data"]], wanted)
