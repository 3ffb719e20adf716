"""Ids with boundaries, as bilm-tf's batchers make them."""

import numpy as np
import pytest
from tests.compat.golden import GOLDEN, read_json

from elmo.compat.bilm import Batcher, TokenBatcher
from elmo.errors import VocabularyError

VOCABULARY = GOLDEN / "bilm" / "vocab.txt"


def test_character_ids_equal_the_originals():
    batcher = Batcher(VOCABULARY, 50)
    expected = np.load(GOLDEN / "bilm" / "skip2" / "expected.npz")
    for i, batch in enumerate(read_json(GOLDEN / "bilm" / "sentences.json")):
        ids = batcher.batch_sentences(batch)
        assert ids.dtype == np.int64
        np.testing.assert_array_equal(ids, expected[f"ids_{i}"])


def test_word_ids_equal_the_originals():
    batcher = TokenBatcher(VOCABULARY)
    expected = np.load(GOLDEN / "bilm" / "words" / "expected.npz")
    for i, batch in enumerate(read_json(GOLDEN / "bilm" / "sentences.json")):
        np.testing.assert_array_equal(batcher.batch_sentences(batch), expected[f"ids_{i}"])


def test_batches_without_sentences_or_tokens_have_their_shape():
    assert Batcher(VOCABULARY, 50).batch_sentences([[]]).shape == (1, 2, 50)
    assert Batcher(VOCABULARY, 50).batch_sentences([]).shape == (0, 0, 50)
    assert TokenBatcher(VOCABULARY).batch_sentences([]).shape == (0, 0)


@pytest.mark.parametrize("make", [TokenBatcher, lambda path: Batcher(path, 50)])
def test_a_vocabulary_without_boundaries_is_refused(make, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("fern\nmoss\n<UNK>\n", encoding="utf-8")
    with pytest.raises(VocabularyError, match="<S> is missing"):
        make(path)


def test_an_unknown_word_does_not_become_padding(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("<S>\n</S>\nfern\n", encoding="utf-8")
    batcher = TokenBatcher(path)
    assert batcher.batch_sentences([["fern"], []]).tolist() == [[1, 3, 2], [1, 2, 0]]
    with pytest.raises(VocabularyError, match="'moss' is not in the vocabulary"):
        batcher.batch_sentences([["fern", "moss", "fern"]])
