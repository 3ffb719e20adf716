"""Batches: every sentence once, within the budget, like lengths together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.embed import batches
from elmo.embed.batches import BOUNDARIES, by_length, in_order

lengths = st.lists(st.integers(0, 60), max_size=60)


@given(lengths, st.integers(1, 8), st.integers(2, 100))
def test_every_sentence_stands_in_one_batch_within_the_budget(lengths: list[int], most: int, positions: int) -> None:
    found = by_length(lengths, most_sentences=most, most_positions=positions)
    assert sorted(n for batch in found for n in batch) == list(range(len(lengths)))
    for batch in found:
        widest = max(lengths[n] for n in batch) + BOUNDARIES
        assert len(batch) <= most
        assert len(batch) == 1 or len(batch) * widest <= positions


@given(lengths, st.integers(1, 8))
def test_no_batch_is_longer_than_the_one_before(lengths: list[int], most: int) -> None:
    found = by_length(lengths, most_sentences=most, most_positions=1000)
    flat = [lengths[n] for batch in found for n in batch]
    assert flat == sorted(flat, reverse=True)


@given(st.integers(0, 50), st.integers(1, 8))
def test_batches_in_order_are_consecutive(count: int, most: int) -> None:
    assert [n for batch in in_order(count, most_sentences=most) for n in batch] == list(range(count))


@given(lengths, st.integers(1, 8), st.integers(2, 100), st.floats(0, 1), st.integers(1, 9))
def test_batches_are_those_that_are_filled_one_sentence_after_the_other(
    lengths: list[int], most: int, positions: int, shortest: float, enough: int
) -> None:
    expected: list[list[int]] = []
    for n in sorted(range(len(lengths)), key=lambda n: (-lengths[n], n)):
        batch = expected[-1] if expected else []
        width = (lengths[batch[0]] if batch else 0) + BOUNDARIES
        full = not batch or len(batch) == most or (len(batch) + 1) * width > positions
        if full or (len(batch) >= enough and lengths[n] + BOUNDARIES < shortest * width):
            expected.append([n])
        else:
            batch.append(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "ENOUGH_ROWS", enough)
        assert by_length(lengths, most_sentences=most, most_positions=positions, shortest=shortest) == expected


def test_much_shorter_sentences_begin_a_new_batch_once_there_are_enough(monkeypatch) -> None:
    monkeypatch.setattr("elmo.embed.batches.ENOUGH_ROWS", 2)
    found = by_length([10, 9, 4, 4, 4, 1], most_sentences=9, most_positions=1000, shortest=0.8)
    assert found == [[0, 1], [2, 3, 4], [5]]
    assert by_length([10, 4, 4], most_sentences=9, most_positions=1000, shortest=0.8) == [[0, 1], [2]]
