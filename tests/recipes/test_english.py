"""The commands that make the card of the English model, on a tiny run: what they write fits together."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.senses.measure import context_means
from recipes.english import card, card_figures, decontaminate
from recipes.english.idtext import id_lines
from recipes.english.neighbors import static_neighbors

from elmo.analysis.examples import Use
from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.weights.formats import read_model
from elmo.weights.verify import verify_model

WORDS = ["river", "bank", "loan", "spring", "boat"]
LINES = [f"The {WORDS[n % 5]} was near the {WORDS[n % 3]} . It was number {n % 7} ." for n in range(120)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("english")
    (folder / "common_voice_en.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (folder / "english_heldout.txt").write_text("\n".join(LINES[:20]) + "\n", encoding="utf-8")
    (folder / "wikitext103_valid.txt").write_text(" = River = \n \n The river . It was !\n", encoding="utf-8")
    store = build_corpus(
        [folder / "common_voice_en.txt"], folder / "corpus", heldout=[folder / "english_heldout.txt"], workers=1
    )
    config = TrainConfig(size="tiny", steps=3, batch_size=4)
    pretrain(store, config, folder / "run", device="cpu", tensorboard=False)
    return folder


def call(monkeypatch: pytest.MonkeyPatch, module: object, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", *map(str, arguments)])
    module.main()  # type: ignore[attr-defined]


def test_figures_card_and_packaged_model_come_from_a_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, packaged = folder / "work", folder / "packaged"
    options = ["--data", folder, "--work", work, "--device", "cpu", "--sentences", 30]
    call(monkeypatch, card_figures, folder / "run", *options)
    figures = json.loads((work / "figures.json").read_text("utf-8"))
    assert figures["perplexity"].keys() == {"english_heldout.txt", "wikitext103_valid.txt"}
    assert figures["perplexity"]["wikitext103_valid.txt"]["carry"]["symbols"] == 3 + 1 + 3 + 1 + 3 + 1
    assert min(figures["cosine to fp32"]["smallest"]) > 0.999
    corpus = folder / "corpus" / "corpus.json"
    call(monkeypatch, card, work, "--corpus", corpus, "--output", packaged)
    text = (packaged / "README.md").read_text("utf-8")
    assert f"**{figures['perplexity']['english_heldout.txt']['settled']['average']:.2f}**" in text
    assert figures["model"]["sha256"]["sha256"] in text
    assert "Common Voice" in text
    assert "{" not in text.split("```json")[0]
    assert read_model(packaged).softmax is not None
    assert figures["model"]["softmax storage"] == "int4"
    assert all(finding.ok for finding in verify_model(packaged))


def test_a_text_of_unknown_licence_stops_the_card() -> None:
    with pytest.raises(SystemExit, match=r"secrets.txt: its source and licence are not in recipes/english/sources.py"):
        card.tokens_by_source({"sources": [{"name": "x/secrets.txt", "heldout": False, "tokens": 5}]})


def test_the_card_counts_the_text_whose_licence_must_be_kept() -> None:
    files = [("wikipedia_en_more.txt", 3, False), ("common_voice_en.txt", 1, False), ("english_heldout.txt", 9, True)]
    manifest = {"sources": [{"name": name, "tokens": count, "heldout": held} for name, count, held in files]}
    tokens = card.tokens_by_source(manifest)
    assert tokens == {"wikipedia_en": 3, "common_voice_en": 1}
    assert card.share_alike(tokens) == 0.75


def test_ids_are_the_targets_of_the_store_in_both_reading_orders(folder: Path) -> None:
    store = CorpusStore.open(folder / "corpus")
    forward, backward = (list(id_lines(store, "heldout", backward=b)) for b in (False, True))
    assert [line.split()[::-1] for line in forward] == [line.split() for line in backward]
    words = [store.vocabulary.words[int(n)] for n in forward[0].split()]
    assert " ".join(words) == "The river was near the river ."
    assert sum(len(line.split()) + 1 for line in forward) == len(store.heldout_symbols)


def test_static_neighbours_are_the_most_similar_other_words() -> None:
    vectors = {"play": np.array([1.0, 0.0]), "game": np.array([5.0, 1.0]), "tax": np.array([0.0, 1.0])}
    assert static_neighbors(vectors, "play", 2) == ["game", "tax"]


def test_a_static_context_leaves_the_word_itself_out() -> None:
    vectors = {"the": [1.0], "bank": [50.0], "lent": [3.0], "far": [100.0]}
    uses = [Use("bank", "money", "the bank lent . . . far")]
    assert context_means(uses, vectors, str.split, window=2).tolist() == [[2.0]]
    assert context_means(uses, vectors, str.split, window=None).tolist() == [[104 / 3]]


def test_lines_of_test_sets_are_left_out(tmp_path: Path) -> None:
    known = "one two three four five six seven eight nine ten eleven twelve thirteen"
    (tmp_path / "test.txt").write_text(known.replace("six ", "six\n") + "\n", encoding="utf-8")
    lines = [
        "He said: One two three - four, five six seven eight (nine) ten ELEVEN twelve!",
        "one two three four five six seven eight nine ten eleven and then more",
        "",
        "short line",
    ]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    into = tmp_path / "clean"
    arguments = [str(tmp_path / "text.txt"), "--tests", str(tmp_path / "test.txt"), "--into"]
    decontaminate.main([*arguments, str(into)])
    assert (into / "text.txt").read_text("utf-8").splitlines() == [lines[1], "", lines[3], ""]
    with pytest.raises(SystemExit):  # not over the text itself
        decontaminate.main([*arguments, str(tmp_path)])
    assert (tmp_path / "text.txt").read_text("utf-8").splitlines() == lines


def test_a_run_of_a_test_set_is_found_wherever_it_stands_in_a_line() -> None:
    known = decontaminate.Known(["One two three four five six seven eight nine ten eleven twelve thirteen."])
    run = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]
    for before in range(15):
        for after in range(3):
            assert known.shares(" ".join(["x"] * before + run + ["y"] * after))
            assert not known.shares(" ".join(["x"] * before + run[:-1] + ["y"] * after))
