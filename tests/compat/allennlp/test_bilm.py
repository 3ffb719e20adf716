"""`_ElmoBiLm`: activations with boundaries, the vocabulary cache, and state by row."""

import logging

import numpy as np
import pytest
import torch
from tests.compat.golden import GOLDEN, MODEL, OPTIONS, WEIGHTS, assert_close, read_json

from elmo.compat.allennlp import ConfigurationError, _ElmoBiLm, batch_to_ids
from elmo.errors import InputError

SENTENCES = [["This", "is", "a", "kettle"], ["Here", "'s", "one"], ["Another", "one"]]
WORDS = ["@@PADDING@@", "@@UNKNOWN@@", *sorted({word for sentence in SENTENCES for word in sentence})]


def word_ids(sentences: list[list[str]]) -> torch.Tensor:
    """As AllenNLP's vocabulary gives them: unknown words are under @@UNKNOWN@@."""
    ids = torch.zeros(len(sentences), max(map(len, sentences)), dtype=torch.long)
    for n, sentence in enumerate(sentences):
        for t, word in enumerate(sentence):
            ids[n, t] = WORDS.index(word) if word in WORDS else 1
    return ids


def top(output: dict) -> torch.Tensor:
    return output["activations"][-1]


def test_every_activation_equals_allennlps_boundaries_and_padding_included():
    bilm = _ElmoBiLm(OPTIONS, WEIGHTS)
    expected = np.load(MODEL / "expected_allennlp.npz")
    for i, batch in enumerate(read_json(GOLDEN / "bilm" / "sentences.json")):
        output = bilm(batch_to_ids(batch))
        assert_close(torch.stack(output["activations"], dim=1), expected[f"layers_{i}"])
        assert output["mask"].sum(1).tolist() == [len(sentence) + 2 for sentence in batch]


def test_rows_keep_their_state_over_batches_of_any_size():
    bilm = _ElmoBiLm(OPTIONS, WEIGHTS)
    expected = np.load(MODEL / "expected_varbatch.npz")
    for i, batch in enumerate(read_json(GOLDEN / "bilm" / "sentences_varbatch.json")):
        layers = torch.stack(bilm(batch_to_ids(batch))["activations"], dim=1)[:, :, 1:]
        for n, sentence in enumerate(batch):
            assert_close(layers[n, :, : len(sentence)], expected[f"layers_{i}"][n, :, : len(sentence)])


def test_cached_words_give_the_same_as_characters():
    plain, cached = _ElmoBiLm(OPTIONS, WEIGHTS), _ElmoBiLm(OPTIONS, WEIGHTS, vocab_to_cache=WORDS)
    ids = batch_to_ids(SENTENCES)
    for _ in range(2):
        spelled, looked_up = plain(ids), cached(ids, word_ids(SENTENCES))
        assert torch.equal(spelled["mask"], looked_up["mask"])
        for one, other in zip(spelled["activations"], looked_up["activations"], strict=True):
            torch.testing.assert_close(one, other)


def test_cached_words_are_not_encoded_again():
    cached = _ElmoBiLm(OPTIONS, WEIGHTS, vocab_to_cache=WORDS)
    rows = []
    encode = cached._inference.tokens
    cached._inference.tokens = lambda r: (rows.append(len(r)), encode(r))[1]
    cached(batch_to_ids(SENTENCES), word_ids(SENTENCES))
    assert rows == [2]  # the boundaries


def test_unknown_words_fall_back_to_their_characters():
    plain, cached = _ElmoBiLm(OPTIONS, WEIGHTS), _ElmoBiLm(OPTIONS, WEIGHTS, vocab_to_cache=WORDS)
    sentences = [["This", "teapot", "is", "new"], ["one"]]
    ids, words = batch_to_ids(sentences), word_ids(sentences)
    assert words[0].tolist().count(1) == 2
    torch.testing.assert_close(top(cached(ids, words)), top(plain(ids)))


def test_an_id_outside_the_cache_sends_the_batch_to_its_characters():
    plain, cached = _ElmoBiLm(OPTIONS, WEIGHTS), _ElmoBiLm(OPTIONS, WEIGHTS, vocab_to_cache=WORDS)
    ids, words = batch_to_ids(SENTENCES), word_ids(SENTENCES)
    words[0, 0], words[1, 1] = len(WORDS) + 3, -1
    torch.testing.assert_close(top(cached(ids, words)), top(plain(ids)))


def test_without_characters_the_unknown_word_is_the_cached_one():
    cached = _ElmoBiLm(OPTIONS, WEIGHTS, vocab_to_cache=WORDS)
    words = word_ids([["This", "teapot"]])
    found = cached(torch.zeros(1, 2, 50, dtype=torch.long), words)["activations"][0][0, 2]
    literal = _ElmoBiLm(OPTIONS, WEIGHTS)(batch_to_ids([["@@UNKNOWN@@"]]))["activations"][0][0, 1]
    torch.testing.assert_close(found, literal)


def test_the_cache_learns_with_the_model_and_says_so(caplog):
    with caplog.at_level(logging.WARNING):
        cached = _ElmoBiLm(OPTIONS, WEIGHTS, requires_grad=True, vocab_to_cache=WORDS)
    assert "learn apart" in caplog.text
    top(cached(batch_to_ids(SENTENCES), word_ids(SENTENCES))).sum().backward()
    assert cached._word_embedding is not None
    assert cached._word_embedding.weight.grad is not None


def test_state_can_be_reset_and_switched_off_where_scripts_reached_for_it():
    bilm = _ElmoBiLm(OPTIONS, WEIGHTS)
    ids = batch_to_ids(SENTENCES)
    first, second = top(bilm(ids)), top(bilm(ids))
    assert (first - second).abs().max() > 1e-3
    bilm._elmo_lstm.reset_states()
    assert torch.equal(top(bilm(ids)), first)
    bilm._elmo_lstm.stateful = False
    assert torch.equal(top(bilm(ids)), first)


def test_the_state_follows_the_model_to_another_type():
    bilm = _ElmoBiLm(OPTIONS, WEIGHTS)
    ids = batch_to_ids(SENTENCES)
    bilm(ids)
    second = top(bilm(ids))
    again = _ElmoBiLm(OPTIONS, WEIGHTS)
    again(ids)
    found = top(again.double()(ids))
    assert found.dtype == torch.float64
    torch.testing.assert_close(found.float(), second)


def test_ids_of_the_wrong_shape_are_refused():
    with pytest.raises(InputError, match=r"shape \[2, 50\].*batch_to_ids"):
        _ElmoBiLm(OPTIONS, WEIGHTS)(torch.ones(2, 50, dtype=torch.long))


def test_a_token_behind_padding_is_refused():
    ids = batch_to_ids([["a", "b"]])
    ids[0, 0] = 0
    with pytest.raises(InputError, match="padding belongs at the end"):
        _ElmoBiLm(OPTIONS, WEIGHTS)(ids)


def test_a_model_that_reads_words_is_refused():
    words = GOLDEN / "bilm" / "words"
    with pytest.raises(ConfigurationError, match="reads words"):
        _ElmoBiLm(words / "options.json", words / "weights.hdf5")
