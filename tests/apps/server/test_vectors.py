"""What comes over HTTP is what `encode` gives: OpenAI's embeddings, tokens in every format."""

import base64
import io
import json
from typing import Any

import numpy as np
import pyarrow
import pytest
import safetensors.numpy
from tests.apps.server.running import Reply, Running

from elmo.embed.embedder import Embedder

TEXTS = ["I sat on the river bank. It didn't rain.", "Yes", "", "Zürich, naïve cafés … and \N{GRINNING FACE}!"]
NEAR = 1e-6
TYPES = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "npz": "application/x-npz",
    "safetensors": "application/vnd.safetensors",
    "arrow": "application/vnd.apache.arrow.stream",
}


class Read:
    """An answer of /embed_tokens in any format, as lists."""

    def __init__(self, kind: str, reply: Reply) -> None:
        assert reply.status == 200, reply.body[:300]
        assert reply.headers["content-type"] == TYPES[kind]
        getattr(self, f"_{kind}")(reply.body)

    def _objects(self, results: list[dict[str, Any]]) -> None:
        self.tokens = [found["tokens"] for found in results]
        self.offsets = [found["offsets"] for found in results]
        self.starts = [found["sentence_starts"] for found in results]
        self.vectors = [np.array(found["vectors"], dtype=np.float32) for found in results]

    def _json(self, body: bytes) -> None:
        self._objects(json.loads(body)["results"])

    def _ndjson(self, body: bytes) -> None:
        self._objects([json.loads(line) for line in body.splitlines()])

    def _npz(self, body: bytes) -> None:
        archive = np.load(io.BytesIO(body))
        count = sum(name.isdecimal() for name in archive.files)
        self.vectors = [archive[f"{n}"] for n in range(count)]
        self.tokens = [archive[f"{n}.tokens"].tolist() for n in range(count)]
        self.starts = [archive[f"{n}.sentence_starts"].tolist() for n in range(count)]
        has_places = "0.offsets" in archive.files
        self.offsets = [archive[f"{n}.offsets"].tolist() if has_places else None for n in range(count)]

    def _safetensors(self, body: bytes) -> None:
        tensors = safetensors.numpy.load(body)
        size = int.from_bytes(body[:8], "little")
        facts = json.loads(body[8 : 8 + size])["__metadata__"]
        self.vectors = [tensors[f"{n}"] for n in range(len(tensors))]
        self.tokens, self.offsets = json.loads(facts["tokens"]), json.loads(facts["offsets"])
        self.starts = json.loads(facts["sentence_starts"])

    def _arrow(self, body: bytes) -> None:
        rows = pyarrow.ipc.open_stream(body).read_all().to_pylist()
        self.tokens = [row["tokens"] for row in rows]
        self.starts = [row["sentence_starts"] for row in rows]
        places = [None if row["starts"] is None else zip(row["starts"], row["ends"], strict=True) for row in rows]
        self.offsets = [None if own is None else [list(pair) for pair in own] for own in places]
        layers = sorted(name for name in rows[0] if name.startswith("layer_"))
        self.vectors = [
            np.array([row[name] for name in layers] if layers else row["vectors"], dtype=np.float32) for row in rows
        ]


def assert_near(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        if other.size:
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_openai_embeddings_are_the_means_of_encode(server: Running, embedder: Embedder, encoding: str) -> None:
    reply = server.post("/v1/embeddings", {"input": TEXTS, "model": "tiny", "encoding_format": encoding})
    assert reply.status == 200
    found = [one["embedding"] for one in reply.json["data"]]
    if encoding == "base64":
        found = [np.frombuffer(base64.b64decode(one), dtype="<f4") for one in found]
    np.testing.assert_allclose(np.array(found), embedder.encode(TEXTS, pooling="mean"), rtol=NEAR, atol=NEAR)
    assert [one["index"] for one in reply.json["data"]] == [0, 1, 2, 3]
    assert reply.json["usage"]["prompt_tokens"] == sum(len(v) for v in embedder.encode(TEXTS))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("layers", ["mean", "top", "all", 0, -1])
def test_tokens_are_those_of_encode_in_every_format(
    server: Running, embedder: Embedder, kind: str, layers: Any
) -> None:
    body = {"inputs": TEXTS, "layers": layers}
    read = Read(kind, server.post("/embed_tokens", body, headers={"Accept": TYPES[kind]}))
    vectors, tokens = embedder.encode(TEXTS, layers=layers, return_tokens=True)
    assert_near(read.vectors, vectors)
    assert read.tokens == [found.words for found in tokens]
    assert read.offsets == [[list(place) for place in found.offsets] for found in tokens]
    assert read.starts == [found.sentence_starts for found in tokens]


@pytest.mark.parametrize("kind", TYPES)
def test_options_are_those_of_encode_in_every_format(server: Running, embedder: Embedder, kind: str) -> None:
    body = {"inputs": TEXTS, "normalize": True, "dtype": "float16", "split_sentences": False}
    read = Read(kind, server.post("/embed_tokens", body, headers={"Accept": TYPES[kind]}))
    wanted = embedder.encode(TEXTS, normalize=True, split_sentences=False)
    assert_near(read.vectors, [vectors.astype(np.float16).astype(np.float32) for vectors in wanted])


@pytest.mark.parametrize("kind", TYPES)
def test_given_tokens_are_taken_as_they_are(server: Running, embedder: Embedder, kind: str) -> None:
    sentences = [["The", "river bank", "."], [], ["Yes"]]
    read = Read(kind, server.post("/embed_tokens", {"inputs": sentences}, headers={"Accept": TYPES[kind]}))
    assert_near(read.vectors, embedder.encode(sentences))
    assert (read.tokens, read.offsets) == (sentences, [None, None, None])


def test_tokenize_gives_tokens_and_places(server: Running, embedder: Embedder) -> None:
    results = server.post("/tokenize", {"inputs": TEXTS}).json["results"]
    wanted = embedder.model.tokenizer.tokenize(TEXTS[1])
    assert (results[1]["tokens"], results[1]["offsets"]) == (wanted.words, [list(place) for place in wanted.offsets])
    assert results[0]["sentence_starts"] == [0, 7]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "json"),
        ("application/*;q=0.8, application/x-npz", "npz"),
        ("text/html, */*;q=0.1", "json"),
        ("application/vnd.apache.arrow.stream;q=1, application/json;q=0.5", "arrow"),
    ],
)
def test_the_format_is_the_one_that_accept_likes_best(server: Running, accept: str, kind: str) -> None:
    Read(kind, server.post("/embed_tokens", {"inputs": "Yes"}, headers={"Accept": accept}))
