"""An index against the plain way: every vector by `encode`, every search by sorting all cosines."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiny import make_bilm

from elmo.analysis.index import answer_from_index, build_index, merge, open_index, parts, search, vectors
from elmo.analysis.neighbors import Question, find_neighbors
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

FIRST = """We sat on the bank. The bank was steep!
The Bank lent him more than a bank should.

Nobody came.
"""
SECOND = "naïve 漢字 😀 banks\nThe cat sat on the mat by the bank.\n"
F16 = 2**-10  # what float16 leaves of a number of at most 1


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "first.txt").write_text(FIRST, encoding="utf-8")
    (folder / "second.txt").write_text(SECOND, encoding="utf-8")
    return [str(folder / "first.txt"), str(folder / "second.txt")]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several parts, several blocks, several chunks, though the text is small."""
    monkeypatch.setattr(parts, "SENTENCES_IN_PART", 2)
    monkeypatch.setattr(merge, "BYTES_AT_ONCE", 100)
    monkeypatch.setattr(vectors, "ROWS_IN_BLOCK", 7)
    monkeypatch.setattr(search, "ROWS_IN_BLOCK", 7)
    monkeypatch.setattr(search, "AT_FIRST", 1)


def plain_rows(embedder, texts, layer):
    """(word, file, line, tokens, place, unit vector) of every token, in the order of the text."""
    rows = []
    for path in texts:
        for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), start=1):
            for tokens in embedder.model.tokenizer.sentence_words(line):
                (vectors,) = embedder.encode([tokens], layers=layer, normalize=True)
                rows += [(w, path, number, tokens, n, v) for n, (w, v) in enumerate(zip(tokens, vectors, strict=True))]
    return rows


@pytest.mark.parametrize("store", ["float16", "int8"])
def test_every_use_of_every_word_is_there_with_its_vectors(embedder, texts, tmp_path, store):
    index = build_index(embedder, texts, tmp_path / "index", layers=["all", "mean"], store=store)
    assert index.layers == ("0", "1", "2", "mean")
    wanted = {layer: plain_rows(embedder, texts, int(layer) if layer != "mean" else layer) for layer in index.layers}
    words = {row[0] for row in wanted["0"]}
    assert sorted(words, key=lambda w: (w.lower(), w)) == list(index.words)
    assert len(index) == len(wanted["0"]) == index.manifest.tokens
    for word in words:
        uses = index.uses(word)
        plain = [row for row in wanted["0"] if row[0] == word]
        assert index.count(word) == len(uses) == len(plain)
        assert [(n.word, n.file, n.line, n.tokens, n.place) for n in uses.neighbors()] == [row[:5] for row in plain]
        assert uses.places.tolist() == [row[4] for row in plain]
        assert [index.sentence(n).words for n in uses.sentences] == [row[3] for row in plain]
        for layer in index.layers:
            found = np.stack([row[5] for row in wanted[layer] if row[0] == word])
            assert uses.vectors(layer) == pytest.approx(found, abs=F16 if store == "float16" else 1 / 127)
    for layer in index.layers:
        unit = np.stack([row[5] for row in wanted[layer]])
        assert index.mean(layer) == pytest.approx(unit.mean(axis=0), abs=1e-5)
    index.verify()


@pytest.mark.parametrize("words", ["all", "same", "other"])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("layer", [0, "top"])
def test_a_search_is_a_plain_search_over_all_rows(embedder, texts, tmp_path, words, centred, layer):
    index = build_index(embedder, texts, tmp_path / "index", layers="all")
    plain = plain_rows(embedder, texts, layer)
    unit = np.stack([row[5] for row in plain])
    (query,), (tokens,) = embedder.encode(["He owes the bank a lot."], layers=layer, return_tokens=True)
    asked = query[tokens.words.index("bank")]
    asked = asked / np.linalg.norm(asked)
    if centred:
        mean = unit.mean(axis=0)
        unit, asked = unit - mean, asked - mean
        unit, asked = unit / np.linalg.norm(unit, axis=1, keepdims=True), asked / np.linalg.norm(asked)
    best = {}
    for row, cosine in zip(plain, (unit @ asked).tolist(), strict=True):
        same = row[0].lower() == "bank"
        key = (row[1], row[2], tuple(row[3]))
        if (words == "all" or same == (words == "same")) and cosine > best.get(key, -2):
            best[key] = cosine
    wanted = sorted(best.values(), reverse=True)
    for count in (1, 3, 50):
        found = index.search(
            query[tokens.words.index("bank")], layer=layer, count=count, words=words, word="Bank", centred=centred
        )
        assert [n.similarity for n in found] == pytest.approx(wanted[:count], abs=4 * F16)
        assert len({(n.file, n.line, *n.tokens) for n in found}) == len(found)
        if words != "all":
            assert {n.word.lower() == "bank" for n in found} == {words == "same"}


def test_an_index_answers_as_a_text_that_is_read(embedder, texts, tmp_path):
    index = build_index(embedder, texts, tmp_path / "index")
    questions = [Question("bank", "He owes the bank a lot."), Question("bank", "We sat on the bank.")]
    sentences = [index.sentence(n) for n in range(index.manifest.sentences)]
    for words in ("all", "same", "other"):
        plain = find_neighbors(embedder, questions, sentences, count=3, words=words)
        answers = answer_from_index(embedder, questions, index, count=3, words=words)
        for one, other in zip(plain, answers, strict=True):
            assert [n[1:] for n in one] == [n[1:] for n in other.neighbors]
            assert [n.similarity for n in one] == pytest.approx([n.similarity for n in other.neighbors], abs=4 * F16)
    assert answers[1].asked.marked == "We sat on the [bank] ."


def test_words_are_found_in_any_case_by_their_beginning_and_by_frequency(embedder, texts, tmp_path):
    index = build_index(embedder, texts, tmp_path / "index")
    assert (index.count("Bank"), index.count("bank"), index.count("bank", ignore_case=True)) == (1, 4, 5)
    assert [n.word for n in index.uses("BANK", ignore_case=True).neighbors()] == ["Bank", *["bank"] * 4]
    assert len(index.uses("river")) == 0
    assert [index.words[n] for n in index.words.beginning_with("BAN")] == ["Bank", "bank", "banks"]
    assert index.words.most_frequent(2) == [(".", 4), ("bank", 4)] or index.words.most_frequent(1) == [("the", 5)]
    among = index.words.beginning_with("bank")
    assert index.words.most_frequent(2, among) == [("bank", 4), ("Bank", 1)]
    assert len(index.uses("the", ignore_case=True).spread(3)) == 3


def test_some_words_alone_can_be_kept_and_so_many_uses_of_each(embedder, texts, tmp_path):
    some = build_index(embedder, texts, tmp_path / "some", only_words=["BANK"], layers="all")
    whole = build_index(embedder, texts, tmp_path / "whole", layers="all")
    assert len(some) == 5
    assert some.manifest.sentences == 4
    wanted = whole.uses("bank", ignore_case=True)
    for layer in some.layers:
        np.testing.assert_array_equal(some.uses("bank", ignore_case=True).vectors(layer), wanted.vectors(layer))
    assert len(some.uses("the")) == 0
    assert some.count("the") > 0
    few = build_index(embedder, texts, tmp_path / "few", most_uses=2)
    assert {word: len(few.uses(word)) for word in few.words} == {w: min(2, whole.count(w)) for w in whole.words}
    assert few.count("bank") == 4
    places = {(n.file, n.line, n.place) for n in wanted.neighbors()}
    assert {(n.file, n.line, n.place) for n in few.uses("bank").neighbors()} <= places


def test_another_model_another_state_and_another_layer_are_refused(embedder, texts, tmp_path):
    index = build_index(embedder, texts, tmp_path / "index", layers=1, model_name="tiny")
    other = Embedder(LoadedModel(bilm=make_bilm(seed=5), tokenizer=Tokenizer(rule="treebank")), device="cpu")
    question = [("bank", "A bank.")]
    with pytest.raises(InputError, match=r"was made with the model tiny \(\w{12}\), but this one is \w{12}; take"):
        answer_from_index(other, question, index)
    zero = Embedder(embedder.model, device="cpu", state="zero")
    with pytest.raises(InputError, match="made with state settled, but this embedder has zero"):
        answer_from_index(zero, question, index)
    with pytest.raises(InputError, match=r"has no layer 2 \(it has 1\); build another with --layers 2"):
        answer_from_index(embedder, question, index, layer="top")
    with pytest.raises(ConfigError, match="layer is 7; it must be"):
        answer_from_index(embedder, question, index, layer=7)
    with pytest.raises(ConfigError, match="state is 'carry'"):
        build_index(Embedder(embedder.model, device="cpu", state="carry"), texts, tmp_path / "carried")


def test_what_cannot_be_built_is_refused_and_leaves_nothing(embedder, texts, tmp_path):
    with pytest.raises(InputError, match="no sentence with 'zebra' in any of 2 files"):
        build_index(embedder, texts, tmp_path / "index", only_words=["zebra"])
    with pytest.raises(ConfigError, match="layers is 9"):
        build_index(embedder, texts, tmp_path / "index", layers=9)
    with pytest.raises(InputError, match="lies in the directory that is read"):
        build_index(embedder, str(tmp_path / "texts"), tmp_path / "texts" / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["texts"]
    build_index(embedder, texts, tmp_path / "index")
    with pytest.raises(ConfigError, match="holds an index already"):
        build_index(embedder, texts, tmp_path / "index")
    with pytest.raises(ResumeError, match="is a finished index, but layers had"):
        build_index(embedder, texts, tmp_path / "index", layers="mean", resume=True)
    again = build_index(embedder, texts, tmp_path / "index", resume=True)
    assert len(again) == len(open_index(tmp_path / "index"))


def test_a_text_that_has_changed_is_noticed_when_a_build_goes_on(embedder, texts, tmp_path, monkeypatch):
    whole = embedder.embed_tokens
    calls = []

    def fail_later(*given, **options):
        calls.append(given)
        if len(calls) > 2:
            raise RuntimeError("power cut")
        return whole(*given, **options)

    monkeypatch.setattr(embedder, "embed_tokens", fail_later)
    with pytest.raises(RuntimeError, match="power cut"):
        build_index(embedder, texts, tmp_path / "index")
    monkeypatch.undo()
    monkeypatch.setattr(parts, "SENTENCES_IN_PART", 2)
    assert not (tmp_path / "index").exists()
    with pytest.raises(ResumeError, match="an interrupted build left its work; continue with --resume"):
        build_index(embedder, texts, tmp_path / "index")
    kept = Path(texts[0]).read_text("utf-8")
    Path(texts[0]).write_text("Another text.\n" + kept, encoding="utf-8")
    with pytest.raises(ResumeError, match="the text has changed since"):
        build_index(embedder, texts, tmp_path / "index", resume=True)
    Path(texts[0]).write_text(kept, encoding="utf-8")
    build_index(embedder, texts, tmp_path / "index", resume=True).verify()
    assert not (tmp_path / "index.building").exists()
