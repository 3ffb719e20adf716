import numpy as np
import pytest

from elmo.analysis.examples import Use
from elmo.analysis.senses import count_senses, fraction_right, nearest_is_of_same_sense, vectors_of_uses
from elmo.errors import InputError

USES = [
    Use("bank", "river", "We sat on the bank."),
    Use("bank", "river", "The muddy bank was steep."),
    Use("bank", "money", "The bank lent him more."),
    Use("bank", "money", "He owes the bank a lot."),
]


def test_the_nearest_other_vector_decides_and_length_does_not_matter():
    vectors = np.array([[1.0, 0.0], [9.0, 1.0], [0.0, 1.0], [0.1, 0.5], [1.0, 0.9]])
    assert nearest_is_of_same_sense(vectors, ["a", "a", "b", "b", "b"]) == [True, True, True, True, False]


def test_a_vector_is_not_its_own_neighbour():
    assert nearest_is_of_same_sense(np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]) == [False, False]


def test_words_are_counted_apart():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]])
    uses = [Use(word, "x", "") for word in ("p", "q", "p", "q")]
    counts = count_senses(vectors, uses)
    assert [(c.word, c.right, c.uses) for c in counts] == [("p", 2, 2), ("q", 2, 2)]
    assert fraction_right(counts) == 1.0


def test_vectors_are_those_of_the_word_in_each_layer(embedder):
    vectors = vectors_of_uses(embedder, USES)
    assert vectors.shape == (3, 4, embedder.dim)
    np.testing.assert_allclose(vectors[:, 0], embedder.encode(USES[0].sentence, layers="all")[:, 4], atol=1e-5)
    np.testing.assert_allclose(vectors[0, 0], vectors[0, 3], atol=1e-6)  # characters know no context


def test_a_sentence_without_the_word_is_named(embedder):
    with pytest.raises(InputError, match="'bank' is not among"):
        vectors_of_uses(embedder, [Use("bank", "river", "No such word.")])
