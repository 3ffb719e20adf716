"""bilm-tf's dump files: the same keys, shapes and values."""

import h5py
import pytest
from tests.compat.golden import DUMPS, OPTIONS, WEIGHTS, assert_same_file

from elmo.compat.bilm import (
    BidirectionalLanguageModel,
    TokenBatcher,
    dump_bilm_embeddings,
    dump_token_embeddings,
)
from elmo.errors import VocabularyError

FOLDER = DUMPS / "bilm"
VOCABULARY = FOLDER / "vocab.txt"


def test_token_embeddings_equal_the_originals(tmp_path):
    dump_token_embeddings(VOCABULARY, OPTIONS, WEIGHTS, tmp_path / "out.hdf5")
    assert_same_file(tmp_path / "out.hdf5", FOLDER / "token_embeddings.hdf5")


def test_embeddings_of_a_text_equal_the_originals_blank_lines_and_odd_spaces_included(tmp_path):
    dump_bilm_embeddings(VOCABULARY, FOLDER / "sentences.txt", OPTIONS, WEIGHTS, tmp_path / "out.hdf5")
    assert_same_file(tmp_path / "out.hdf5", FOLDER / "bilm_embeddings.hdf5")


def test_a_vocabulary_in_any_order_and_without_unk_serves_its_own_words(tmp_path):
    """As bilm-tf's own example writes it, from a set."""
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("moss\n</S>\nfern\n<S>", encoding="utf-8")
    dump_token_embeddings(vocabulary, OPTIONS, WEIGHTS, tmp_path / "words.hdf5")
    files = {"use_character_inputs": False, "embedding_weight_file": tmp_path / "words.hdf5"}
    ids = TokenBatcher(vocabulary).batch_sentences([["fern", "moss"]])
    assert BidirectionalLanguageModel(OPTIONS, WEIGHTS, **files)(ids)["lm_embeddings"].shape == (1, 3, 2, 12)


def test_a_vocabulary_without_boundaries_leaves_no_file(tmp_path):
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("moss\n", encoding="utf-8")
    with pytest.raises(VocabularyError, match="<S> is missing"):
        dump_token_embeddings(vocabulary, OPTIONS, WEIGHTS, tmp_path / "words.hdf5")
    with pytest.raises(VocabularyError, match="<S> is missing"):
        dump_bilm_embeddings(vocabulary, VOCABULARY, OPTIONS, WEIGHTS, tmp_path / "out.hdf5")
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.txt"]


def test_an_empty_text_gives_an_empty_file(tmp_path):
    (tmp_path / "text").write_text("", encoding="utf-8")
    dump_bilm_embeddings(VOCABULARY, tmp_path / "text", OPTIONS, WEIGHTS, tmp_path / "out.hdf5")
    with h5py.File(tmp_path / "out.hdf5") as file:
        assert len(file) == 0
