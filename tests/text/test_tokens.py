"""Tokens and their places."""

import pytest

from elmo.text.tokens import Pieces, PiecesCache, Tokens, place_pieces


def test_pieces_follow_each_other_inside_their_chunk() -> None:
    tokens = place_pieces("  ab  abc ", ["ab", "abc"], [("a", "b"), ("abc",)], shift=100)
    assert tokens == Tokens(["a", "b", "abc"], [102, 103, 106], [0])
    assert tokens.offsets == [(102, 103), (103, 104), (106, 109)]
    assert len(tokens) == 3


def test_a_chunk_without_pieces_is_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        place_pieces("a b", ["a", "b"], [("a",)])


def test_the_cache_works_out_each_chunk_once_and_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def cut(chunk: str) -> Pieces:
        asked.append(chunk)
        return (chunk,)

    monkeypatch.setattr(PiecesCache, "ENTRIES", 3)
    cache = PiecesCache(cut)
    for chunk in "aababc":
        assert cache[chunk] == (chunk,)
    assert asked == ["a", "b", "c"]
    for chunk in "defgh":
        assert cache[chunk] == (chunk,)
        assert len(cache) <= 3


def test_the_cache_keeps_no_long_chunks() -> None:
    cache = PiecesCache(lambda chunk: (chunk,))
    assert cache["x" * 1000] == ("x" * 1000,)
    assert not cache
