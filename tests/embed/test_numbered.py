"""Sentences as numbers of their words, and one array for the vectors of all of them."""

import numpy as np
import pytest

from elmo.embed.numbered import number_sentences, ranges
from elmo.embed.results import Results

SENTENCES = [["a", "b", "a"], [], ["c"], ["b", "d", "c", "a"]]


def test_words_come_back_from_their_numbers() -> None:
    numbered = number_sentences(SENTENCES)
    assert numbered.words == ["a", "b", "c", "d"]
    assert [numbered.words_of(n) for n in range(4)] == SENTENCES
    assert numbered.starts.tolist() == [0, 3, 3, 4, 8]


def test_a_batch_has_its_own_distinct_words() -> None:
    numbered = number_sentences(SENTENCES)
    words, index = numbered.distinct(np.array([3, 1, 2]))
    assert sorted(words) == ["a", "b", "c", "d"]
    assert [words[n] for n in index] == ["b", "d", "c", "a", "c"]
    assert numbered.distinct(np.array([1]))[0] == []


def test_no_sentences_have_no_tokens() -> None:
    numbered = number_sentences([])
    assert (numbered.words, len(numbered.ids), numbered.starts.tolist()) == ([], 0, [0])


def test_ranges_follow_each_other() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


@pytest.mark.parametrize("layers", [None, 3])
@pytest.mark.parametrize("texts", [None, [2, 0, 2], [4]])
def test_places_are_where_the_views_of_texts_find_their_vectors(layers: int | None, texts: list[int] | None) -> None:
    lengths = np.array([3, 0, 1, 4])
    counts = None if texts is None else np.array(texts)
    by_places, by_put = (Results(lengths, texts=counts, layers=layers, dim=2, dtype="float32") for _ in range(2))
    chance = np.random.default_rng(0)
    for batch in (np.array([3, 0]), np.array([1, 2])):
        N, T = len(batch), int(lengths[batch].max()) + 2
        chosen = chance.standard_normal((*((layers,) if layers else ()), N, T, 2)).astype(np.float32)
        by_put.put(batch, chosen)
        inside = [chosen[..., n, 1 : lengths[sentence] + 1, :] for n, sentence in enumerate(batch)]
        wanted = np.concatenate(inside, axis=-2)  # [.., tokens, D], as a GPU sends them
        by_places.rows[by_places.places(batch)] = wanted.reshape(-1, 2)
        for sentence, vectors in zip(batch.tolist(), inside, strict=True):
            np.testing.assert_array_equal(by_put.of_sentence(sentence), vectors)
    np.testing.assert_array_equal(by_places.rows, by_put.rows)
    assert len(by_put) == (4 if texts is None else len(texts))
    for number in range(len(by_put)):
        assert by_put.of_text(number).base is not None
        assert by_put.of_text(number).flags.c_contiguous
