"""bilm-tf's `BidirectionalLanguageModel` on arrays: recorded outputs, padding included."""

import numpy as np
import pytest
from tests.compat.golden import DUMPS, GOLDEN, OPTIONS, WEIGHTS, assert_close, read_json

from elmo.compat.bilm import Batcher, BidirectionalLanguageModel, TokenBatcher
from elmo.errors import ConfigError, InputError

BILM = GOLDEN / "bilm"
CASES = ("skip2", "plain1", "deep3", "clipped", "noclip", "noproj")


def assert_outputs(outputs: dict, expected, i: int) -> None:
    np.testing.assert_array_equal(outputs["mask"], expected[f"mask_{i}"])
    np.testing.assert_array_equal(outputs["lengths"], expected[f"lengths_{i}"])
    assert_close(outputs["lm_embeddings"], expected[f"layers_{i}"], message=f"batch {i}")


@pytest.mark.parametrize("case", CASES)
def test_outputs_equal_the_originals_padding_included(case):
    model = BidirectionalLanguageModel(BILM / case / "options.json", BILM / case / "weights.hdf5")
    batcher = Batcher(BILM / "vocab.txt", 50)
    expected = np.load(BILM / case / "expected.npz")
    for i, batch in enumerate(read_json(BILM / "sentences.json")):
        assert_outputs(model(batcher.batch_sentences(batch)), expected, i)


def test_batches_of_any_size_share_their_rows_states():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS, max_batch_size=1)
    batcher = Batcher(BILM / "vocab.txt", 50)
    expected = np.load(BILM / "skip2" / "expected_varbatch.npz")
    for i, batch in enumerate(read_json(BILM / "sentences_varbatch.json")):
        assert_outputs(model(batcher.batch_sentences(batch)), expected, i)


def test_a_model_of_words_equals_the_original():
    folder = BILM / "words"
    files = {"use_character_inputs": False, "embedding_weight_file": folder / "weights.hdf5"}
    model = BidirectionalLanguageModel(folder / "options.json", folder / "weights.hdf5", **files)
    expected = np.load(folder / "expected.npz")
    for i, batch in enumerate(read_json(BILM / "sentences.json")):
        assert_outputs(model(TokenBatcher(folder / "vocab.txt").batch_sentences(batch)), expected, i)


def test_dumped_token_embeddings_give_the_originals_numbers():
    files = {"use_character_inputs": False, "embedding_weight_file": DUMPS / "bilm" / "token_embeddings.hdf5"}
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS, **files)
    batcher = TokenBatcher(DUMPS / "bilm" / "vocab.txt")
    expected = np.load(DUMPS / "bilm" / "cached_expected.npz")
    for i, batch in enumerate(read_json(BILM / "sentences.json")):
        assert_outputs(model(batcher.batch_sentences(batch)), expected, i)


def test_token_embeddings_are_layer_zero_with_its_boundaries():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    outputs = model(Batcher(BILM / "vocab.txt", 50).batch_sentences([["a", "b"], ["c"]]))
    tokens = outputs["token_embeddings"]
    assert tokens.shape == (2, 4, 6)
    np.testing.assert_array_equal(outputs["lm_embeddings"][0, 0], np.concatenate([tokens[0, 1:3]] * 2, axis=-1))
    assert outputs["lm_embeddings"][1, 0, 1].any()  # the character CNN of no characters
    assert not outputs["lm_embeddings"][1, 1:, 1].any()


def test_state_goes_on_until_it_is_reset():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    ids = Batcher(BILM / "vocab.txt", 50).batch_sentences([["fern"]])
    first, second = (model(ids)["lm_embeddings"] for _ in range(2))
    assert np.abs(first - second).max() > 1e-3
    model.reset_states()
    np.testing.assert_array_equal(model(ids)["lm_embeddings"], first)


def test_ids_without_boundaries_have_token_embeddings_at_least():
    ids = Batcher(BILM / "vocab.txt", 50).batch_sentences([["fern"]])
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    alone = model(ids[:, 1:2])
    assert alone["lm_embeddings"].shape == (1, 3, 0, 12)
    assert_close(alone["token_embeddings"][0, 0], model(ids)["token_embeddings"][0, 1])


def test_empty_batches_give_empty_arrays():
    outputs = BidirectionalLanguageModel(OPTIONS, WEIGHTS)(Batcher(BILM / "vocab.txt", 50).batch_sentences([]))
    assert outputs["lm_embeddings"].shape == (0, 3, 0, 12)


def test_wrong_ids_are_refused_with_their_shape_or_range():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    with pytest.raises(InputError, match=r"shape \[1, 4\].*\[sentences, tokens, 50\]"):
        model(np.ones((1, 4), dtype=int))
    with pytest.raises(InputError, match=r"float64.*integers"):
        model(np.ones((1, 4, 50)))
    with pytest.raises(InputError, match=r"shape \[1, 4, 20\]"):
        model(np.ones((1, 4, 20), dtype=int))
    with pytest.raises(InputError, match="from 1 to 262; 0 to 261"):
        model(np.array([[[1] * 49 + [262]]]))
    with pytest.raises(InputError, match="padding belongs at the end"):
        model(np.array([[[0] * 50, [1] * 50]]))


def test_word_ids_beyond_the_embeddings_are_refused():
    files = {"use_character_inputs": False, "embedding_weight_file": DUMPS / "bilm" / "token_embeddings.hdf5"}
    with pytest.raises(InputError, match="0 to 18 is wanted: were they made from the vocabulary of these files"):
        BidirectionalLanguageModel(OPTIONS, WEIGHTS, **files)(np.array([[1, 19, 2]]))
    with pytest.raises(ConfigError, match="needs embedding_weight_file"):
        BidirectionalLanguageModel(OPTIONS, WEIGHTS, use_character_inputs=False)


def test_each_row_of_characters_is_encoded_once():
    model = BidirectionalLanguageModel(OPTIONS, WEIGHTS)
    rows = []
    vectors = model._bilm._vectors
    encode = vectors._encode
    vectors._encode = lambda r: (rows.append(len(r)), encode(r))[1]
    batcher = Batcher(BILM / "vocab.txt", 50)
    for batch in ([["fern", "moss", "fern"], ["moss"]], [["moss", "bog"]]):
        model(batcher.batch_sentences(batch))
    assert rows == [5, 1]  # two words, two boundaries, padding; then one word
