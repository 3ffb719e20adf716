"""Sentences as padded rows of ids."""

import copy
import pickle

import numpy as np
import pytest
import torch
from tests.tiny import make_bilm
from tests.weights.making import WORD_CONFIG

from elmo.compat.inference import Inference
from elmo.compat.rows import character_config, character_rows, lengths_of, padded
from elmo.compat.rowvectors import RowVectors
from elmo.embed import runners
from elmo.errors import ConfigError, InputError
from elmo.model.packed import PackedBiLM
from elmo.ops.cpu.kernels import kernels_run
from elmo.text.chars import boundary_rows, spell


def test_typed_boundary_tokens_are_boundary_rows_and_all_other_words_are_spelled():
    rows = character_rows(["<S>", "tin", "</S>", "<s>"], characters=50)
    np.testing.assert_array_equal(rows[[0, 2]], boundary_rows())
    np.testing.assert_array_equal(rows[[1, 3]], spell(["tin", "<s>"]))


def test_a_token_that_is_no_string_is_named():
    with pytest.raises(InputError, match=r"token 1 of the batch is 7 \(int\)"):
        character_rows(["a", 7], characters=50)  # type: ignore[list-item]


def test_padding_is_zero_and_at_the_end():
    assert padded(np.array([[1], [2], [3]]), [2, 0, 1])[:, :, 0].tolist() == [[1, 2], [0, 0], [3, 0]]
    assert padded(np.zeros((0, 50), dtype=np.int16), []).shape == (0, 0, 50)


def test_a_token_behind_padding_is_refused():
    assert lengths_of(torch.tensor([[True, True, False], [False, False, False]])).tolist() == [2, 0]
    with pytest.raises(InputError, match=r"row 1 .* behind a position of zeros"):
        lengths_of(torch.tensor([[True, False], [False, True]]))


ROWS = torch.from_numpy(spell(["fog", "lamp", "fog", "é"]))


class Counted(Inference):
    """Says how many rows it was asked to encode."""

    def __init__(self, bilm):
        super().__init__(bilm)
        self.seen = []

    def tokens(self, rows):
        self.seen.append(len(rows))
        return super().tokens(rows)


@pytest.fixture(params=[True, False], ids=["kernels", "torch"])
def counted(request, monkeypatch):
    """A biLM of its own, and how many rows it was asked to encode, with and without compiled kernels."""
    if not request.param:
        monkeypatch.setattr(runners, "kernels_run", lambda: False)
    inference = Counted(make_bilm().requires_grad_(False))
    assert not kernels_run() or isinstance(inference.runner, PackedBiLM) == request.param
    return inference


def test_remembered_rows_are_not_encoded_again(counted):
    vectors = RowVectors(counted)
    for rows in (ROWS, ROWS, torch.from_numpy(spell(["lamp", "oil"]))):
        torch.testing.assert_close(vectors(rows), make_bilm().requires_grad_(False).tokens(rows))
    assert counted.seen == [3, 1]


def test_rows_with_zeros_in_them_are_kept_apart():
    rows = ROWS.clone()
    rows[1, 40:] = 0
    rows[2] = 0
    rows[3, :10] = 0
    inference = Inference(make_bilm().requires_grad_(False))
    torch.testing.assert_close(RowVectors(inference)(rows), inference.bilm.tokens(rows))
    assert RowVectors(inference)(rows[:0]).shape == (0, 8)


@pytest.mark.parametrize("change", ["in place", "loaded", "converted"])
def test_nothing_is_remembered_of_other_weights(counted, change):
    bilm = counted.bilm
    vectors = RowVectors(counted)
    before = vectors(ROWS)
    if change == "in place":
        with torch.no_grad():
            bilm.tokens.bias_projection.add_(1)
    elif change == "loaded":
        bilm.load_state_dict(make_bilm(seed=5).state_dict())
    else:
        bilm.double()
    after = vectors(ROWS)
    assert counted.seen == [3, 3]
    assert after.dtype == (torch.float64 if change == "converted" else torch.float32)
    assert (after.float() - before).abs().max() > (0.1 if change != "converted" else -1)


def test_rows_of_a_model_that_learns_are_encoded_each_time_with_gradients(counted):
    counted.bilm.requires_grad_(True)
    vectors = RowVectors(counted)
    assert vectors(ROWS).requires_grad
    torch.testing.assert_close(vectors(ROWS), counted.bilm.tokens(ROWS))
    assert counted.seen == [3, 3]


def test_rows_met_in_inference_mode_serve_outside_it(counted):
    vectors = RowVectors(counted)
    with torch.inference_mode():
        vectors(ROWS)
    found = vectors(torch.from_numpy(spell(["fog", "new"])))
    assert not found.is_inference()


def test_copies_remember_nothing_and_use_their_own_model():
    vectors = RowVectors(Inference(make_bilm().requires_grad_(False)))
    vectors(ROWS)
    for again in (copy.deepcopy(vectors), pickle.loads(pickle.dumps(vectors))):
        assert len(again._cache) == 0
        torch.testing.assert_close(again(ROWS), vectors(ROWS))


def test_a_model_without_characters_is_refused():
    with pytest.raises(ConfigError, match="reads words"):
        character_config(make_bilm(WORD_CONFIG).config)
