"""Static word vectors: GloVe's text, word2vec's first line, npz, and files that are none."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import InputError
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.embedding.words import WordEmbedding
from elmo.tasks.embedding.wordvectors import WordVectors, read_word_vectors, write_word_vectors

VECTORS = WordVectors(["the", "Bank", "rare"], np.arange(6, dtype=np.float32).reshape(3, 2))


def test_text_and_npz_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 0 1\nBank 2 3\nrare 4.0 5e0\n", encoding="utf-8")
    (tmp_path / "w2v.txt").write_text("3 2\nthe 0 1\nBank 2 3\nrare 4 5\n", encoding="utf-8")
    write_word_vectors(VECTORS, tmp_path / "v.npz")
    for name in ("v.txt", "w2v.txt", "v.npz"):
        found = read_word_vectors(tmp_path / name)
        assert found.words == VECTORS.words
        assert np.array_equal(found.vectors, VECTORS.vectors)
        assert found.sha256() == VECTORS.sha256()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("the 0 1\nof 2\n", "line 2 has 1 numbers"),
        ("the 0 1\nof 2 3 4\n", "line 2 has 3 numbers"),
        ("the 0 1\nof x y\n", "line 2 is not a word"),
        ("\n", "no vectors"),
    ],
)
def test_what_is_no_vector_is_named_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_word_vectors(tmp_path / "v.txt")


def test_a_word_may_have_blanks_as_in_glove(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 0 1\n. . . 2 3\nat name@domain.com 4 5\n", encoding="utf-8")
    found = read_word_vectors(tmp_path / "v.txt")
    assert found.words == ["the", ". . .", "at name@domain.com"]
    assert found.vectors.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_an_npz_of_other_things_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", words=np.array([1, 2]), vectors=np.zeros((2, 3)))
    np.savez(tmp_path / "b.npz", vectors=np.zeros((2, 3)))
    (tmp_path / "c.npz").write_bytes(b"no archive")
    for name in "abc":
        with pytest.raises(InputError, match=f"{name}.npz"):
            read_word_vectors(tmp_path / f"{name}.npz")


def test_words_are_known_by_the_file_or_by_coming_twice() -> None:
    texts = [["The", "Bank", "once", "Twice"], ["twice", "the"]]
    table = WordList.collect(texts, VECTORS, most=10)
    assert table.known == ["Bank", "the", "twice"]
    assert table.rest == ["rare"]
    assert [table.id_of(word) for word in ("Bank", "THE", "twice", "RARE", "once", "bank")] == [1, 2, 3, 4, 0, 0]
    assert WordList.collect(texts, VECTORS, most=0).rest == []


def test_numbers_of_one_shape_share_a_vector() -> None:
    table = WordList.collect([["1996", "in", "in"], ["1997", "3.5"]], WordVectors(["2020"], np.ones((1, 2))), most=1)
    assert table.known == ["0000", "in"]
    assert [table.id_of(word) for word in ("1848", "184", "2020")] == [1, 0, 3]


def test_the_vectors_of_a_file_are_taken_and_the_rest_does_not_learn() -> None:
    table = WordList.collect([["The", "new", "new"]], VECTORS, most=10)
    embedding = WordEmbedding(known=len(table.known), rest=len(table.rest), dim=2, train=True)
    embedding.fill(table, VECTORS)
    ids = torch.tensor([[table.id_of("the"), table.id_of("rare")], [table.id_of("new"), 0]])
    found = embedding(ids)
    assert found[0].tolist() == [[0.0, 1.0], [4.0, 5.0]]
    found.sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.sum(1).tolist() == [2.0, 2.0, 2.0]  # unknown, new, the
    assert set(embedding.state_dict()) == {"weight"}
