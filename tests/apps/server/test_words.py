"""/similar, /neighbors and /search tell what the functions of `elmo.analysis` give."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.apps.server.conftest import LIMITS
from tests.apps.server.running import Running, running

from elmo.analysis.index import WordIndex, answer_from_index, build_index
from elmo.analysis.neighbors import Question, find_neighbors
from elmo.analysis.similarity import compare_word
from elmo.apps.server.app import make_app
from elmo.embed.embedder import Embedder
from elmo.errors import InputError

TEXTS = [
    "We sat on the bank.",
    "The bank was steep!",
    "The Bank lent him money.",
    "Nobody came.",
    "A boat at the bank.",
]
QUESTION = {"word": "bank", "sentence": "They fished from the bank."}


@pytest.fixture(scope="module")
def index(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> WordIndex:
    folder = tmp_path_factory.mktemp("index")
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return build_index(embedder, [str(folder / "texts.txt")], folder / "index", layers=["all", "mean"])


@pytest.fixture(scope="module")
def with_index(embedder: Embedder, index: WordIndex) -> Iterator[Running]:
    with running(make_app(embedder, index=index)) as found:
        yield found


def places(found: list[dict]) -> list[tuple]:
    return [(tuple(one["tokens"]), one["place"], one["line"]) for one in found]


def test_similar_gives_the_cosines_of_each_layer(server: Running, embedder: Embedder) -> None:
    first, second = "I sat on the bank.", "The bank was closed."
    reply = server.post("/similar", {"word": "bank", "first": first, "second": second})
    assert reply.status == 200
    found = [layer["similarity"] for layer in reply.json["layers"]]
    assert found == pytest.approx(compare_word(embedder, ("bank", first), ("bank", second)), abs=1e-6)
    assert [layer["name"] for layer in reply.json["layers"]] == ["tokens", "LSTM 1", "LSTM 2"]
    other = server.post("/similar", {"word": "bank", "with": "closed", "first": first, "second": second}).json
    wanted = compare_word(embedder, ("bank", first), ("closed", second))
    assert [layer["similarity"] for layer in other["layers"]] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("batch_tokens", [5, 4096])
def test_neighbors_in_texts_are_those_of_the_command(embedder: Embedder, batch_tokens: int) -> None:
    wanted = find_neighbors(embedder, [Question("bank", QUESTION["sentence"])], TEXTS, count=3, words="same")[0]
    with running(make_app(embedder, limits=replace(LIMITS, batch_tokens=batch_tokens))) as server:
        reply = server.post("/neighbors", {**QUESTION, "texts": TEXTS, "count": 3, "words": "same"})
    found = reply.json["neighbors"]
    assert [(one["tokens"], one["place"]) for one in found] == [(one.tokens, one.place) for one in wanted]
    assert [one["similarity"] for one in found] == pytest.approx([one.similarity for one in wanted], abs=1e-5)
    assert reply.json["asked"] == {"word": "bank", "place": 4, "tokens": ["They", "fished", "from", "the", "bank", "."]}


@pytest.mark.parametrize("layer", ["top", "mean", 0, -2])
@pytest.mark.parametrize("centred", [False, True])
def test_neighbors_in_the_index_are_those_of_the_library(
    with_index: Running, embedder: Embedder, index: WordIndex, layer: str | int, centred: bool
) -> None:
    options = {"layer": layer, "centred": centred, "count": 4, "words": "all", "ignore_case": True}
    reply = with_index.post("/neighbors", {**QUESTION, **options})
    [wanted] = answer_from_index(embedder, [Question("bank", QUESTION["sentence"])], index, **options)
    assert places(reply.json["neighbors"]) == [(tuple(one.tokens), one.place, one.line) for one in wanted.neighbors]
    assert reply.json["neighbors"][0]["file"] == wanted.neighbors[0].file


def test_search_takes_a_vector(with_index: Running, embedder: Embedder, index: WordIndex) -> None:
    vector = embedder.encode(["The bank was steep!"], layers="top")[0][1]
    body = {"vector": vector.tolist(), "word": "bank", "words": "same", "count": 2}
    found = with_index.post("/search", body).json["neighbors"]
    wanted = index.search(vector, count=2, words="same", word="bank")
    assert places(found) == [(tuple(one.tokens), one.place, one.line) for one in wanted]
    assert found[0]["similarity"] == pytest.approx(1.0, abs=1e-3)


def test_search_without_a_vector_goes_through_the_uses_of_a_word(with_index: Running, index: WordIndex) -> None:
    first = with_index.post("/search", {"word": "bank", "count": 2}).json
    rest = with_index.post("/search", {"word": "bank", "count": 100, "first": 2}).json
    wanted = [(tuple(one.tokens), one.place, one.line) for one in index.uses("bank").neighbors()]
    assert first["uses"] == rest["uses"] == len(wanted) == 3
    assert places([*first["neighbors"], *rest["neighbors"]]) == wanted
    assert with_index.post("/search", {"word": "bank", "ignore_case": True}).json["uses"] == 4
    assert with_index.post("/search", {"word": "river"}).json == {"model": "elmo", "uses": 0, "neighbors": []}


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/search", {}, 422, "vector or word is wanted"),
        ("/search", {"vector": [0.0]}, 422, "vector is a list of 1; 16 numbers are wanted"),
        ("/search", {"vector": [1e40] * 16}, 422, "numbers are wanted"),
        ("/search", {"vector": ["1"] * 16}, 422, "numbers are wanted"),
        ("/search", {"vector": [np.pi] * 16, "words": "same"}, 422, "needs the word too"),
        ("/search", {"word": "a", "count": 0}, 422, "a whole number from 1 to 1,000"),
        ("/neighbors", {"word": "sea", "sentence": "The bank."}, 422, "'sea' is not among the tokens"),
        ("/neighbors", {**QUESTION, "layer": 3}, 422, "layer is 3; it must be mean, top, or a number from -3 to 2"),
        ("/neighbors", {**QUESTION, "words": "some"}, 422, "words is 'some'; it must be one of all, same, other"),
        ("/neighbors", {**QUESTION, "occurrence": 2}, 422, "there is no occurrence 2"),
        ("/similar", {"word": "a", "first": "a"}, 422, "second is missing"),
        ("/similar", {"word": "a", "first": "a", "second": "a " * 5000}, 413, "second has 5,000 tokens"),
    ],
)
def test_what_cannot_be_asked_is_refused(with_index: Running, path: str, body: dict, status: int, said: str) -> None:
    reply = with_index.post(path, body)
    assert (reply.status, said in reply.error["message"]) == (status, True), reply.error


def test_without_an_index_the_cure_is_named(server: Running) -> None:
    reply = server.post("/neighbors", QUESTION)
    assert (reply.status, reply.error["code"]) == (404, "no_index")
    assert "--index DIR" in reply.error["message"]
    assert server.post("/search", {"word": "bank"}).status == 404
    assert "/search" not in server.get("/openapi.json").json["paths"]


def test_an_index_of_another_model_is_refused_at_the_start(index: WordIndex) -> None:
    from tests.tiny import make_bilm

    from elmo.text.tokenizer import Tokenizer
    from elmo.weights.loaded import LoadedModel

    other = Embedder(LoadedModel(bilm=make_bilm(seed=5), tokenizer=Tokenizer()), device="cpu")
    with pytest.raises(InputError, match="was made with the model"):
        make_app(other, index=index)


def test_info_tells_of_the_index(with_index: Running, index: WordIndex) -> None:
    facts = with_index.get("/info").json["index"]
    assert facts == {"uses": len(index), "words": len(index.words), "layers": ["0", "1", "2", "mean"]}
