"""The word cache: right vectors, each word encoded once, never more words than it may hold."""

import copy
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.embed import wordcache
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


def test_words_of_the_call_at_hand_are_never_those_that_make_room() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2, most_bytes=32 * 8)
    cache.look_up([f"w{n}" for n in range(32)])
    cache.look_up([f"w{n}" for n in range(8)])
    assert len(encode.asked) == 32
    cache.look_up([f"w{n}" for n in range(6)] + ["new"])  # some that are old make room at once
    assert encode.asked[32:] == ["new"]
    assert 24 <= len(cache) < 32
    cache.look_up([f"w{n}" for n in range(8)])
    assert encode.asked[32:] == ["new"]


def test_a_cleared_cache_asks_again() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2)
    cache.look_up(["a"])
    cache.clear()
    cache.look_up(["a"])
    assert encode.asked == ["a", "a"]


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def encode_slowly(words: Sequence[str]) -> torch.Tensor:
    """Other threads get their turn in the middle, where a large model lets them in too."""
    vectors = Counting()(words)
    time.sleep(1e-5)
    return vectors


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("capacity", [40, 1000])
def test_threads_get_the_right_vectors_from_one_cache(capacity: int) -> None:
    for turn in range(20):
        cache = WordCache(encode_slowly, size=2, most_bytes=capacity * 8)
        together, wrong = threading.Barrier(8), []

        def work(seed: int, cache: WordCache, together: threading.Barrier, wrong: list[list[str]]) -> None:
            rng = random.Random(seed)
            requests = [[f"w{rng.randrange(300)}" for _ in range(30)] for _ in range(10)]
            together.wait()
            found = [cache.look_up(request).tolist() for request in requests]
            wrong += [r for r, rows in zip(requests, found, strict=True) if rows != [vector_of(word) for word in r]]

        threads = [threading.Thread(target=work, args=(8 * turn + n, cache, together, wrong)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        words = [f"w{n}" for n in range(300)]  # and afterwards
        assert [cache.look_up([word]).tolist() for word in words] == [[vector_of(word)] for word in words]


def interrupting(count: int) -> Callable[[FrameType, str, object], object]:
    """A tracer that raises KeyboardInterrupt at the instruction of the word cache with this number."""
    left = count

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal left
        if frame.f_code.co_filename != wordcache.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    return trace


def test_an_interrupt_at_any_instant_leaves_a_cache_that_is_right() -> None:
    known = ["a", "b", "c", "d"]
    for count in range(1, 100_000):
        cache = WordCache(Counting(), size=2, most_bytes=5 * 8)
        cache.look_up(known)
        before = sys.gettrace()
        sys.settrace(interrupting(count))
        try:
            cache.look_up(["b", "e", "f", "b", "g"])  # two of the known make room
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(before)
        for request in (known, ["e", "f", "g"], ["h", "i", "a", "b", "c"], ["i", "k"]):
            assert cache.look_up(request).tolist() == [vector_of(word) for word in request]
            assert len(cache) <= 5
        rows = list(cache._slots.values())
        assert len(set(rows)) == len(rows)
        if not interrupted:
            return
    raise AssertionError("the call never came to its end")


def test_an_encoder_that_fails_leaves_a_cache_that_is_right() -> None:
    encode = Counting()
    cache = WordCache(encode, size=2, most_bytes=3 * 8)
    cache.look_up(["a", "b"])
    cache._encode = lambda _: torch.empty(0).expand(-2)
    with pytest.raises(RuntimeError):
        cache.look_up(["b", "c", "d"])
    cache._encode = encode
    assert cache.look_up(["b", "c", "d"]).tolist() == [vector_of(word) for word in "bcd"]


def test_a_copy_of_a_cache_is_an_empty_one_of_its_own() -> None:
    cache = WordCache(Counting(), size=2)
    cache.look_up(["a"])
    with cache._lock.held():  # as while another thread computes
        for again in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
            assert len(again) == 0
            assert again.look_up(["a"]).tolist() == [vector_of("a")]
    assert len(cache) == 1
