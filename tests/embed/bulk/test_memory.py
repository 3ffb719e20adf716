"""Memory of parts: never two parts in one place at the same time, and used again when it is free."""

import numpy as np

from elmo.embed.bulk.memory import MOST_FREE, PartMemory


def test_parts_that_are_under_way_share_no_memory() -> None:
    memory = PartMemory()
    arrays = [memory.empty((5, 3), np.float16) for _ in range(4)]
    for n, array in enumerate(arrays):
        array[...] = n
    assert [np.unique(array).tolist() for array in arrays] == [[0], [1], [2], [3]]
    assert {(array.shape, array.dtype.name) for array in arrays} == {((5, 3), "float16")}


def test_memory_that_was_given_back_is_used_again() -> None:
    memory = PartMemory()
    first = memory.empty((100, 8), np.float32)
    memory.give_back(first[20:40].reshape(2, 10, 8))  # any view of it, as the vectors of a part are
    second = memory.empty((60, 8), np.float16)
    assert np.shares_memory(first, second)
    assert not np.shares_memory(second, memory.empty((60, 8), np.float16))


def test_a_block_that_is_too_small_is_not_used() -> None:
    memory = PartMemory()
    first = memory.empty((2, 8), np.float32)
    memory.give_back(first)
    assert not np.shares_memory(first, memory.empty((3, 8), np.float32))


def test_other_arrays_are_left_alone_and_no_more_is_kept_than_is_used() -> None:
    memory = PartMemory()
    memory.give_back(np.zeros((9, 9)))
    arrays = [memory.empty((5, 3), np.float16) for _ in range(MOST_FREE + 3)]
    for array in arrays:
        memory.give_back(array)
        memory.give_back(array)  # twice is once
    again = [memory.empty((5, 3), np.float16) for _ in range(MOST_FREE + 3)]
    assert sum(any(np.shares_memory(old, new) for old in arrays) for new in again) == MOST_FREE


def test_an_item_has_its_memory_until_the_next_one_is_asked_for() -> None:
    memory = PartMemory()
    items = memory.after((memory.empty((4, 2), np.float32) for _ in range(2)), lambda item: item)
    first = next(items)
    assert not np.shares_memory(first, memory.empty((4, 2), np.float32))
    assert np.shares_memory(first, next(items))
