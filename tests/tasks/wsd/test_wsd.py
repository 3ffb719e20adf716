"""Word senses: reading the framework's files, first senses, averages, nearest neighbours, and the Scorer's F1."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES

from elmo.embed.embedder import Embedder
from elmo.embed.module import Elmo
from elmo.errors import InputError
from elmo.tasks.wsd.corpus import read_sense_corpus
from elmo.tasks.wsd.evaluate import evaluate_senses
from elmo.tasks.wsd.nearest import average_senses, predict_first, predict_senses, score_senses
from elmo.tasks.wsd.wordnet import read_first_senses
from elmo.weights.loaded import LoadedModel

TRAIN, TEST, INDEX = SAMPLES / "senses-train.data.xml", SAMPLES / "senses-test.data.xml", SAMPLES / "index.sense"


def test_a_multi_word_unit_is_several_tokens_and_one_instance() -> None:
    corpus = read_sense_corpus(TRAIN)
    unit = next(i for i in corpus.instances if i.lemma == "take_place")
    assert corpus.sentences[unit.sentence][unit.start : unit.end] == ("took", "place")
    assert corpus.keys[unit.id] == ("take_place%2:30:00::",)
    assert len(corpus.sentences) == 5


def test_first_senses_are_those_of_number_one() -> None:
    first = read_first_senses(INDEX)
    assert first["bank", "NOUN"] == "bank%1:14:00::"
    assert first["give", "VERB"] == "give%2:41:00::"
    assert first["muddy", "ADJ"] == "muddy%5:00:00:wet:01"


def test_a_sense_is_the_average_of_its_words(model: LoadedModel) -> None:
    corpus = read_sense_corpus(TRAIN)
    elmo = Elmo(model).eval()
    found = average_senses(elmo, corpus)
    vectors = Embedder(model, device="cpu").encode(corpus.sentences, layers="all")
    river = np.stack([vectors[i.sentence][:, i.start : i.end].mean(1) for i in corpus.instances
                      if corpus.keys[i.id] == ("bank%1:17:01::",)]).mean(0)  # fmt: skip
    expected = river / np.linalg.norm(river, axis=1, keepdims=True)
    at = found.keys.index("bank%1:17:01::")
    np.testing.assert_allclose(found.vectors[at], expected, rtol=0, atol=1e-5)
    unit = next(i for i in corpus.instances if i.lemma == "take_place")
    both = vectors[unit.sentence][:, unit.start : unit.end].mean(1)
    at = found.keys.index("take_place%2:30:00::")
    np.testing.assert_allclose(found.vectors[at], both / np.linalg.norm(both, axis=1, keepdims=True), rtol=0, atol=1e-5)


def test_the_nearest_sense_of_the_word_is_taken_and_the_first_where_none_was_seen(model: LoadedModel) -> None:
    elmo = Elmo(model).eval()
    train, test, first = read_sense_corpus(TRAIN), read_sense_corpus(TEST), read_first_senses(INDEX)
    senses = average_senses(elmo, train)
    answers = predict_senses(elmo, test, senses, first)
    assert len(answers) == 4  # three layers and their mean
    vectors = Embedder(model, device="cpu").encode(test.sentences, layers="all")
    banks = [i for i in test.instances if i.lemma == "bank"]
    for layer in range(3):
        for bank in banks:
            x = torch.nn.functional.normalize(torch.from_numpy(vectors[bank.sentence][layer, bank.start]), dim=0)
            near = {k: float(senses.vectors[n, layer] @ x) for n, k in enumerate(senses.keys) if k.startswith("bank%")}
            assert answers[layer][bank.id] == max(near, key=near.__getitem__)
    unseen = next(i for i in test.instances if i.lemma == "give")
    assert answers[2][unseen.id] == "give%2:41:00::"
    no_sense_at_all = next(i for i in test.instances if i.lemma == "loan")
    assert no_sense_at_all.id not in answers[2]


def test_context_tells_senses_apart_that_the_token_layer_cannot(model: LoadedModel) -> None:
    (scores,) = evaluate_senses(Elmo(model).eval(), TRAIN, [TRAIN], INDEX)
    assert scores.layers[1] > scores.layers[0]


def test_several_test_sets_are_scored_together_too(model: LoadedModel, tmp_path: Path) -> None:
    scores = evaluate_senses(Elmo(model).eval(), TRAIN, [TEST, TRAIN], INDEX, output=tmp_path / "answers")
    assert [s.name for s in scores] == ["senses-test", "senses-train", "together"]
    assert scores[2].instances == scores[0].instances + scores[1].instances
    lines = (tmp_path / "answers" / "senses-test.layer2.key.txt").read_text("utf-8").splitlines()
    assert lines[0].split()[0].startswith("d000.s")


def test_the_score_is_that_of_the_scorer() -> None:
    gold = {"a": ("x%1", "y%1"), "b": ("z%1",), "c": ("w%1",), "d": ("v%1",)}
    # Of three answers two are right, of four words two: P 66.7, R 50.0, F1 57.1.
    assert score_senses(gold, {"a": "y%1", "b": "z%1", "c": "x%1", "other": "x%1"}) == pytest.approx(57.142857)
    assert score_senses(gold, {}) == 0.0
    assert predict_first([], {}) == {}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("x.data.xml", "<corpus><sentence></corpus>", "line 1 is not XML"),
        (
            "x.data.xml",
            '<corpus><sentence id="s"><instance id="a">w</instance></sentence></corpus>',
            "without id, lemma",
        ),
        ("x.data.xml", '<corpus><sentence id="s"><wf>w</wf></sentence></corpus>', "has no instances"),
        ("x.gold.key.txt", "a b%1\nc\n", "line 2 is not an id and sense keys"),
        ("index.sense", "bank 1 2 3\n", "line 1 is not a line of index.sense"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(name: str, text: str, problem: str, tmp_path: Path) -> None:
    sound = '<corpus><sentence id="s"><instance id="a" lemma="w" pos="NOUN">w</instance></sentence></corpus>'
    files = {"x.data.xml": sound, "x.gold.key.txt": "a w%1:00:00::\n", "index.sense": "w%1:00:00:: 0 1 0\n", name: text}
    for file, content in files.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}: .*{problem}"):
        _ = read_sense_corpus(tmp_path / "x.data.xml"), read_first_senses(tmp_path / "index.sense")


def test_a_word_without_a_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text("d000.s000.t000 a%1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has no key for 'd000\.s000\.t001'"):
        read_sense_corpus(TEST, keys=tmp_path / "keys.txt")
