"""What the page is told is what the library says."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from elmo.analysis.similarity import compare_word
from elmo.apps.explore.data import EXAMPLES, MADE_UP, PAIRS, Explorer, LastValues, UnknownTextError, UsesQuestion
from elmo.errors import InputError

BANK = UsesQuestion("bank")


def test_the_page_begins_with_examples_that_are_there(explorer: Explorer) -> None:
    start = explorer.start()
    assert start["examples"] == list(EXAMPLES)
    assert start["layers"] == ["tokens", "LSTM 1", "LSTM 2"]
    assert (start["sentences"], start["model"]) == (960, "tiny")
    for word in EXAMPLES:
        senses = {use["sense"] for use in explorer.uses(UsesQuestion(word))["uses"]} - {None}
        assert len(senses) >= 2, word


def test_uses_have_a_point_in_each_layer_and_all_is_json(explorer: Explorer) -> None:
    found = json.loads(json.dumps(explorer.uses(BANK), allow_nan=False))
    assert np.shape(found["points"]) == (3, found["found"], 2)
    assert all(use["tokens"][use["place"]] == "bank" for use in found["uses"])
    assert {use["sense"] for use in found["uses"]} == {"of a river", "for money", None}
    assert not np.any(found["points"][0])  # one spelling, one vector


def test_likeness_is_the_cosine_of_elmo_similar(explorer: Explorer) -> None:
    uses = explorer.find(BANK)
    cosines = explorer.likeness(BANK, 3, centred=False)["cosines"]
    for other in (0, 3, 7):
        first, second = (("bank", " ".join(uses.passages[n].tokens)) for n in (3, other))
        assert [layer[other] for layer in cosines] == pytest.approx(
            compare_word(explorer.embedder, first, second), abs=1e-3
        )


def test_two_sentences_are_compared_word_by_word(explorer: Explorer) -> None:
    first, second = PAIRS[0]
    found = explorer.compare(first, second, centred=False)
    at = found["first"].index("bank"), found["second"].index("bank")
    wanted = compare_word(explorer.embedder, ("bank", first), ("bank", second))
    assert [layer[at[0]][at[1]] for layer in found["cosines"]] == pytest.approx(wanted, abs=1e-3)
    centred = explorer.compare(first, second, centred=True)
    assert np.mean(centred["cosines"][2]) < np.mean(found["cosines"][2])


def test_made_up_words_are_not_in_the_packaged_sentences(explorer: Explorer) -> None:
    for word, sentence in MADE_UP:
        tokens = explorer.tokens(sentence)["tokens"]
        found = explorer.near(sentence, tokens.index(word))
        assert found["known"] is False
        assert [len(layer) for layer in found["layers"]] == [8, 8, 8]


def test_a_pasted_text_is_kept_by_its_name_and_forgotten_in_time(explorer: Explorer) -> None:
    names = [explorer.take_text(f"Text number {n} has a cat. A cat sat. The cat ran.")["text"] for n in range(5)]
    assert explorer.uses(UsesQuestion("cat", text=names[-1]))["found"] == 3
    assert explorer.words(names[-1])["words"][0][1] == 3
    with pytest.raises(UnknownTextError, match="paste it again"):
        explorer.uses(UsesQuestion("cat", text=names[0]))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.take_text("  \n "), "no words"),
        (lambda e: e.take_text("a" * 1_000_001), "1,000,001 characters"),
        (lambda e: e.compare("", "x", centred=False), "no words"),
        (lambda e: e.near("A word.", 9), "3 words"),
        (lambda e: e.likeness(BANK, 999, centred=False), "counted from 0"),
        (lambda e: e.uses(UsesQuestion("zebras")), "choose another word"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(explorer: Explorer, ask, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(explorer)


def test_threads_that_ask_together_compute_once() -> None:
    kept: LastValues[str, int] = LastValues(2)
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return len(calls)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: kept.get("same", compute), range(32))) == {1}
    kept.get("second", compute)
    kept.get("same", compute)
    kept.get("third", compute)
    assert kept.get("same", compute) == 1  # the second one went, which was used longest ago
    assert len(calls) == 3
