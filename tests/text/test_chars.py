"""Character ids against the published numbering, and back."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.text import chars

PAD = 261


def unspell(row: Iterable[int]) -> str:
    """The token that a row stands for (`<S>` and `</S>` for the boundaries, '' for a position without a token)."""
    ids = [int(i) for i in row]
    if chars.BEGIN_SENTENCE in ids:
        return "<S>"
    if chars.END_SENTENCE in ids:
        return "</S>"
    return bytes(i - chars.FIRST_BYTE for i in ids if chars.FIRST_BYTE <= i < chars.BEGIN_SENTENCE).decode(
        "utf-8", "replace"
    )


def row(*ids: int) -> list[int]:
    return [*ids, *[PAD] * (50 - len(ids))]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("the", row(259, 117, 105, 102, 260)),
        ("", row(259, 260)),
        ("é" * 30, row(259, *[196, 170] * 24, 260)),
        ("\0", row(259, 1, 260)),
        ("a\ud800b", row(259, 98, 99, 260)),
    ],
)
def test_a_word_is_spelled_as_published(word: str, expected: list[int]) -> None:
    assert chars.spell([word]).tolist() == [expected]


def test_boundaries_are_spelled_as_published() -> None:
    assert chars.boundary_rows().tolist() == [row(259, 257, 260), row(259, 258, 260)]


def test_no_words_give_no_rows() -> None:
    assert chars.spell([]).shape == (0, 50)


def test_ids_fit_the_embedding_table_and_none_is_the_padding() -> None:
    rows = chars.spell([chr(c) for c in range(1, 300)] + ["x" * 1000, "漢字" * 20])
    assert rows.min() > 0
    assert rows.max() < chars.CHARACTER_COUNT


@given(st.lists(st.text(), max_size=6), st.integers(4, 60))
@settings(max_examples=60)
def test_a_row_is_the_same_alone_and_among_others(words: list[str], characters: int) -> None:
    together = chars.spell(words, characters=characters)
    assert together.shape == (len(words), characters)
    for word, spelled in zip(words, together, strict=True):
        assert np.array_equal(spelled, chars.spell([word], characters=characters)[0])


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=12))
def test_unspell_gives_back_a_word_that_fits(word: str) -> None:
    assert unspell(chars.spell([word])[0]) == word


@given(st.text(max_size=80))
def test_a_cut_word_keeps_its_first_bytes_and_is_known_to_be_cut(word: str) -> None:
    whole = word.encode("utf-8", "ignore")
    assert chars.token_bytes(word) == whole[:48]
    assert chars.is_cut(word) == (len(whole) > 48)
    assert unspell(chars.spell([word])[0]) == whole[:48].decode("utf-8", "replace")


def test_a_cut_inside_a_character_unspells_to_a_replacement_mark() -> None:
    assert unspell(chars.spell(["x" + "漢" * 16])[0]) == "x" + "漢" * 15 + "\ufffd"


def test_sixteen_ideographs_fit_and_seventeen_do_not() -> None:
    assert not chars.is_cut("漢" * 16)
    assert chars.is_cut("漢" * 17)


def test_boundaries_and_empty_positions_unspell_to_their_names() -> None:
    begin, end = chars.boundary_rows()
    assert (unspell(begin), unspell(end)) == ("<S>", "</S>")
    assert unspell(np.zeros(50, dtype=np.int16)) == ""


def test_rows_from_bytes_ignores_what_is_behind_the_length() -> None:
    table = np.full((1, 48), 7, dtype=np.uint8)
    table[0, :3] = list(b"the")
    assert chars.rows_from_bytes(table, np.array([3])).tolist() == [row(259, 117, 105, 102, 260)]
