import itertools

import numpy as np
import pytest

from elmo.analysis import neighbors
from elmo.analysis.neighbors import Question, answer_questions, find_neighbors
from elmo.embed.bulk.progress import TextBar
from elmo.errors import ConfigError, InputError
from elmo.text.textfiles import PlacedSentence

SENTENCES = [
    "We sat on the bank.",
    "The muddy bank was steep.",
    "The Bank lent him more than a bank should.",
    "Nobody came.",
    "",
]
QUERY = ("bank", "He owes the bank a lot.")


def slow(embedder, query, sentences, count):
    """Every token of every sentence, then the best of each sentence, sorted."""
    word, text = query
    rows, tokens = embedder.encode([text], layers="top", return_tokens=True)
    asked = rows[0][tokens[0].words.index(word)]
    found = []
    for sentence in sentences:
        (vectors,), (words,) = embedder.encode([sentence], layers="top", return_tokens=True)
        cosines = [v @ asked / np.linalg.norm(v) / np.linalg.norm(asked) for v in vectors]
        if cosines:
            found.append((max(cosines), words.words, int(np.argmax(cosines))))
    return sorted(found, key=lambda f: -f[0])[:count]


def test_neighbours_are_those_of_a_plain_search(embedder, monkeypatch):
    monkeypatch.setattr(neighbors, "BLOCK", 2)
    (found,) = find_neighbors(embedder, [QUERY], SENTENCES, count=3)
    wanted = slow(embedder, QUERY, SENTENCES, 3)
    assert [(n.tokens, n.place) for n in found] == [(words, place) for _, words, place in wanted]
    assert [n.similarity for n in found] == pytest.approx([cosine for cosine, _, _ in wanted], abs=1e-5)


def test_words_can_be_limited_to_the_same_or_to_others(embedder):
    (same,) = find_neighbors(embedder, [QUERY], SENTENCES, words="same")
    assert {n.word for n in same} <= {"bank", "Bank"}
    assert len(same) == 3
    (other,) = find_neighbors(embedder, [QUERY], SENTENCES, words="other")
    assert "bank" not in {n.word.lower() for n in other}
    assert len(other) == 4


def test_the_own_sentence_is_passed_over(embedder):
    (found,) = find_neighbors(embedder, [QUERY], [*SENTENCES, QUERY[1]], words="same")
    assert all(" ".join(n.tokens) != "He owes the bank a lot ." for n in found)
    assert len(found) == 3


def test_token_lists_and_endless_input_in_blocks_are_read(embedder):
    lists = itertools.islice(itertools.cycle([["the", "bank", "."], ["no", "."]]), 2500)
    (found,) = find_neighbors(embedder, [QUERY], lists, count=2, layers=0)
    assert [n.tokens for n in found] == [["the", "bank", "."]] * 2
    assert found[0].similarity == pytest.approx(1.0)


def test_several_queries_have_each_their_answer(embedder):
    both = find_neighbors(embedder, [QUERY, ("came", "They came.")], SENTENCES, count=1, words="same")
    assert [n.word for found in both for n in found][1] == "came"
    assert both[0] == find_neighbors(embedder, [QUERY], SENTENCES, count=1, words="same")[0]


def test_a_missing_word_and_too_many_layers_are_refused(embedder):
    with pytest.raises(InputError, match="'river' is not among"):
        find_neighbors(embedder, [("river", "No such word.")], SENTENCES)
    with pytest.raises(ConfigError, match="layers is 'all'"):
        find_neighbors(embedder, [QUERY], SENTENCES, layers="all")


def test_the_text_is_embedded_once_for_all_questions(embedder, monkeypatch):
    calls = []
    encode = embedder.encode
    monkeypatch.setattr(embedder, "encode", lambda texts, **given: calls.append(len(texts)) or encode(texts, **given))
    find_neighbors(embedder, [QUERY] * 7, SENTENCES)
    assert calls == [7, len(SENTENCES)]


def test_neighbours_of_placed_sentences_say_where_they_stand(embedder):
    placed = [PlacedSentence("a.txt", 4, ["the", "bank", "."]), PlacedSentence("b.txt", 1, ["no", "."])]
    (answer,) = answer_questions(embedder, [QUERY], placed, count=2, layers=0)
    assert answer.asked.marked == "He owes the [bank] a lot ."
    assert {(n.file, n.line, n.tokens[0]) for n in answer.neighbors} == {("a.txt", 4, "the"), ("b.txt", 1, "no")}
    assert find_neighbors(embedder, [QUERY], placed, count=2, layers=0) == [answer.neighbors]


def test_the_occurrence_of_a_word_can_be_chosen_and_its_case_ignored(embedder, caplog):
    text = "A Bank by a bank."
    questions = [Question("bank", text, 1), Question("bank", text, 2)]
    found = answer_questions(embedder, questions, SENTENCES, ignore_case=True)
    assert [answer.asked.place for answer in found] == [1, 4]
    (answer,) = answer_questions(embedder, [("bank", text)], SENTENCES)
    assert answer.asked.place == 4
    assert not caplog.records
    with pytest.raises(InputError, match=r"occurs 1 time\(s\).*no occurrence 2"):
        find_neighbors(embedder, [Question("bank", text, 2)], SENTENCES)
    find_neighbors(embedder, [("bank", text)], SENTENCES, ignore_case=True)
    assert "'bank' occurs 2 times in 'A Bank by a bank .'; the first is taken" in caplog.text


def test_a_terminal_sees_one_bar_over_all_blocks_with_the_share_of_the_files(embedder, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(neighbors, "BLOCK", 2)
    monkeypatch.setattr(neighbors, "BAR_AFTER_SECONDS", 0.0)
    made = []
    monkeypatch.setattr(neighbors, "TextBar", lambda *a, **o: made.append(TextBar(*a, show=True, **o)) or made[-1])
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES))
    find_neighbors(embedder, [QUERY], SENTENCES, files=[str(text)])
    shown = capsys.readouterr().err
    assert len(made) == 1
    assert "sentence/s" not in shown, "encode drew a bar of its own"
    assert shown.rstrip().split("\r")[-1].startswith("100%|")
    assert " 5 sentences [" in shown
