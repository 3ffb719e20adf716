"""Collections in memory and on disk give the same uses, vectors and neighbours."""

from pathlib import Path

import numpy as np
import pytest

from elmo.analysis.collection import Collection, Passage, Place, packaged_passages, passages_of_files, passages_of_text
from elmo.analysis.index import build_index
from elmo.analysis.indexcollection import IndexCollection
from elmo.analysis.textcollection import TextCollection
from elmo.analysis.uses import find_uses
from elmo.embed.embedder import Embedder
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer

LINES = [
    "The bank of the river is steep.",
    "Bank after bank has closed.",
    "She opened an account at the bank.",
    "Fish swim near the bank.",
    "A dog ran along the bank and barked.",
    "Nothing was left in the house.",
]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "lines.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture(scope="module", params=["memory", "index", "index of the top layer"])
def collection(request: pytest.FixtureRequest, text: Path, embedder: Embedder, tmp_path_factory) -> Collection:
    if request.param == "memory":
        tokenizer = embedder.model.tokenizer
        return TextCollection(embedder, passages_of_files([text], tokenizer, tokenized=False))
    layers = "all" if request.param == "index" else "top"
    folder = tmp_path_factory.mktemp("index") / "index"
    return IndexCollection(embedder, build_index(embedder, [str(text)], folder, layers=layers))


def test_uses_have_their_sentence_place_and_line(collection: Collection) -> None:
    uses = find_uses(collection, "bank", most=100)
    assert [(passage.line, place.token) for passage, place in zip(uses.passages, uses.places, strict=True)] == [
        (1, 1), (2, 2), (3, 6), (4, 4), (5, 5),
    ]  # fmt: skip
    assert uses.found == 5
    assert collection.places("BANK", most=100, ignore_case=True)[1] == 6
    assert collection.sentence_count == 6
    assert dict(collection.words(100))["bank"] == 5


def test_vectors_are_those_of_encode_at_length_one(collection: Collection, embedder: Embedder) -> None:
    uses = find_uses(collection, "bank", most=100)
    layers = embedder.encode([passage.tokens for passage in uses.passages], layers="all")
    wanted = np.stack([found[:, at.token] for found, at in zip(layers, uses.places, strict=True)], axis=1)
    wanted /= np.linalg.norm(wanted, axis=2, keepdims=True)
    np.testing.assert_allclose(uses.vectors, wanted, atol=2e-3)  # the index stores float16


def test_neighbours_are_the_nearest_words_of_other_sentences(collection: Collection, embedder: Embedder) -> None:
    uses = find_uses(collection, "bank", most=100)
    found = uses.neighbors(2, count=3)[-1]
    assert len(found) == 3
    assert all(near.tokens != uses.passages[2].tokens for near in found)
    best = -1.0
    own = uses.vectors[-1, 2]
    for line in LINES:
        tokens = embedder.model.tokenizer.tokenize(line).words
        if tokens != uses.passages[2].tokens:
            best = max(best, float((embedder.encode([tokens], layers="top", normalize=True)[0] @ own).max()))
    assert found[0].similarity == pytest.approx(best, abs=2e-3)


def test_centred_cosines_are_seen_from_the_mean(collection: Collection) -> None:
    uses = find_uses(collection, "bank", most=100)
    mean = collection.mean()
    assert mean.shape == (uses.vectors.shape[0], 1, uses.vectors.shape[2])
    top = uses.vectors[-1] - mean[-1]
    wanted = top @ top[1] / np.linalg.norm(top, axis=1) / np.linalg.norm(top[1])
    np.testing.assert_allclose(uses.likeness(1, centred=True)[-1], wanted, atol=1e-5)
    np.testing.assert_allclose(uses.likeness(1, centred=False)[:, 1], 1.0, atol=1e-5)


def test_more_uses_than_wanted_are_taken_evenly(collection: Collection) -> None:
    uses = find_uses(collection, "bank", most=3)
    assert [passage.line for passage in uses.passages] == [1, 3, 5]
    assert uses.found == 5


def test_a_word_that_is_not_there_is_refused_with_a_hint(collection: Collection) -> None:
    with pytest.raises(InputError, match="'zebra' is in none of the 6 sentences; choose another"):
        find_uses(collection, "zebra", most=10)
    with pytest.raises(InputError, match="where upper and lower case are one"):
        find_uses(collection, "RIVER", most=10)


def test_clusters_are_as_many_as_asked_for_and_fewer_than_uses(collection: Collection) -> None:
    uses = find_uses(collection, "bank", most=100)
    assert uses.clusterings(0) == {}  # without context all are alike
    found = uses.clusterings(uses.vectors.shape[0] - 1)
    assert set(found) == {2, 3, 4}
    assert all(set(one.labels.tolist()) == set(range(count)) for count, one in found.items())


def test_a_text_with_too_many_words_names_the_index(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmo.analysis.textcollection.MOST_TOKENS", 5)
    with pytest.raises(InputError, match="elmo index build"):
        TextCollection(embedder, [Passage(["one", "two", "three"])] * 2)


def test_of_a_long_text_evenly_taken_sentences_are_searched(embedder: Embedder, monkeypatch) -> None:
    monkeypatch.setattr("elmo.analysis.textcollection.MOST_SEARCHED_TOKENS", 10)
    collection = TextCollection(embedder, [Passage([f"w{n}", "is"]) for n in range(20)])
    assert collection.searched_count == 5
    assert {near.tokens[0] for near in collection.near(["w3", "was"], 1, count=20)[-1]} == {
        "w0",
        "w4",
        "w9",
        "w14",
        "w19",
    }


def test_packaged_words_have_their_known_senses(embedder: Embedder) -> None:
    collection = TextCollection(embedder, packaged_passages(Tokenizer(rule="treebank")))
    places, _ = collection.places("mouse", most=1000)
    senses = [(collection.passage(place.sentence).senses or {}).get("mouse") for place in places]
    assert senses.count("the animal") == senses.count("for a computer") == 10


def test_a_text_knows_its_lines() -> None:
    found = list(passages_of_text("One is here. Two is there.\n\nThree.", Tokenizer(rule="treebank")))
    assert [(passage.tokens[0], passage.line) for passage in found] == [("One", 1), ("Two", 1), ("Three", 3)]
    assert Place(0, 1) < Place(1, 0)
