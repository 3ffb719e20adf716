"""Sentences as padded rows of ids."""

import numpy as np
import pytest
import torch

from elmo.compat.rows import character_rows, lengths_of, padded, token_vectors
from elmo.errors import InputError
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


def test_equal_rows_are_encoded_once_and_come_back_in_place(bilm):
    rows = torch.from_numpy(spell(["fog", "lamp", "fog", "a"]))
    expected = bilm.tokens(rows)
    seen = []
    tokens = bilm.tokens.forward
    bilm.tokens.forward = lambda rows: (seen.append(len(rows)), tokens(rows))[1]
    try:
        torch.testing.assert_close(token_vectors(bilm, rows), expected)
        assert token_vectors(bilm, rows[:0]).shape == (0, expected.shape[1])
    finally:
        del bilm.tokens.forward
    assert seen == [3, 0]
