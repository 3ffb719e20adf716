"""The word cache: right vectors, each word encoded once, never more words than it may hold."""

from collections.abc import Sequence

import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.embed.wordcache import WordCache

words = st.lists(st.text("abcdefgh", max_size=2), max_size=20)


def vector_of(word: str) -> list[float]:
    return [float(len(word)), float(sum(map(ord, word)))]


class Counting:
    """An encoder that keeps a list of what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, words: Sequence[str]) -> torch.Tensor:
        self.asked += words
        return torch.tensor([vector_of(word) for word in words]).reshape(len(words), 2)


@given(st.lists(words, max_size=8), st.integers(1, 12))
def test_a_cache_of_any_size_gives_the_right_vectors(requests: list[list[str]], capacity: int) -> None:
    cache = WordCache(Counting(), size=2, most_bytes=capacity * 8)
    for request in requests:
        expected = torch.tensor([vector_of(word) for word in request]).reshape(len(request), 2)
        assert torch.equal(cache.look_up(request), expected)
        assert len(cache) <= capacity


def test_a_word_is_encoded_once() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2)
    cache.look_up(["a", "b", "a"])
    cache.look_up(["b", "c"])
    assert encode.asked == ["a", "b", "c"]


def test_the_word_used_longest_ago_makes_room() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2, most_bytes=2 * 8)
    cache.look_up(["a", "b"])
    cache.look_up(["a"])
    cache.look_up(["c"])  # b goes
    cache.look_up(["a"])
    cache.look_up(["b"])
    assert encode.asked == ["a", "b", "c", "b"]


def test_a_cleared_cache_asks_again() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2)
    cache.look_up(["a"])
    cache.clear()
    cache.look_up(["a"])
    assert encode.asked == ["a", "a"]
