"""`batch_to_ids` and the character mapper: AllenNLP's published rows, and what it does at the edges."""

import numpy as np
import pytest
import torch
from tests.compat.golden import GOLDEN, read_json

from elmo.compat.allennlp import ConfigurationError, ELMoCharacterMapper, batch_to_ids

PADDING = 261


def row(*ids: int) -> list[int]:
    return [259, *ids, 260] + [PADDING] * (48 - len(ids))


def test_ids_equal_bilm_tfs_without_their_boundaries():
    expected = np.load(GOLDEN / "bilm" / "skip2" / "expected.npz")
    for i, batch in enumerate(read_json(GOLDEN / "bilm" / "sentences.json")):
        ids = batch_to_ids(batch)
        assert ids.dtype == torch.int64
        for n, sentence in enumerate(batch):
            np.testing.assert_array_equal(ids[n, : len(sentence)], expected[f"ids_{i}"][n, 1 : len(sentence) + 1])
            assert not ids[n, len(sentence) :].any()


def test_shapes_go_by_the_longest_sentence():
    assert batch_to_ids([["a"], ["b", "c", "d"], []]).shape == (3, 3, 50)


def test_batches_without_tokens_have_their_shape_all_the_same():
    assert batch_to_ids([[]]).shape == (1, 0, 50)
    assert batch_to_ids([]).shape == (0, 0, 50)


def test_typed_boundaries_are_boundary_rows():
    ids = batch_to_ids([["<S>", "</S>"]])
    assert ids[0].tolist() == [row(257), row(258)]


def test_letters_beyond_ascii_are_their_bytes():
    assert batch_to_ids([["Āt"]])[0, 0].tolist() == row(197, 129, 117)


def test_long_words_are_cut_at_48_bytes():
    ids = batch_to_ids([["a" * 60, "a" * 48]])[0]
    assert ids[0].tolist() == ids[1].tolist() == row(*[98] * 48)


def test_tokens_may_come_as_numpy_arrays():
    words = np.array(["two", "words"])
    torch.testing.assert_close(batch_to_ids([words]), batch_to_ids([["two", "words"]]))


def test_the_mapper_agrees_with_batch_to_ids():
    mapper = ELMoCharacterMapper()
    for word in ("<S>", "</S>", "fern", "Ā"):
        assert mapper.convert_word_to_char_ids(word) == batch_to_ids([[word]])[0, 0].tolist()


def test_added_tokens_have_a_character_of_their_own():
    mapper = ELMoCharacterMapper({"<first>": 1})
    assert mapper.convert_word_to_char_ids("<first>") == row(2)
    assert mapper.convert_word_to_char_ids("<second>") == batch_to_ids([["<second>"]])[0, 0].tolist()
    assert mapper == ELMoCharacterMapper({"<first>": 1})
    assert mapper != ELMoCharacterMapper()


def test_an_added_token_beyond_the_table_is_refused():
    with pytest.raises(ConfigurationError, match="'<x>' the id 261"):
        ELMoCharacterMapper({"<x>": 261})


def test_the_mappers_constants_are_trainings():
    mapper = ELMoCharacterMapper
    assert mapper.beginning_of_sentence_character == 256
    assert mapper.end_of_sentence_character == 257
    assert (mapper.beginning_of_word_character, mapper.end_of_word_character, mapper.padding_character) == (
        258,
        259,
        260,
    )
