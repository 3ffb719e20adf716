"""Batches by token budget: sentences of like length together, never more positions than the budget allows."""

from collections.abc import Sequence

BOUNDARIES = 2  # every sentence is read with its begin and its end token
ENOUGH_ROWS = 256


def by_length(
    lengths: Sequence[int], *, most_sentences: int, most_positions: int, shortest: float = 0.0
) -> list[list[int]]:
    """Indices of sentences, longest batch first; rows x longest row (boundaries counted) stays within the budget.

    A sentence that alone is over the budget stands alone. One shorter than `shortest` times the longest of a batch
    that has `ENOUGH_ROWS` already begins a new batch: for those who compute the padding.
    """
    order = sorted(range(len(lengths)), key=lambda n: (-lengths[n], n))
    batches: list[list[int]] = []
    batch: list[int] = []
    for n in order:
        width = (lengths[batch[0]] if batch else lengths[n]) + BOUNDARIES
        full = len(batch) == most_sentences or (len(batch) + 1) * width > most_positions
        much_shorter = len(batch) >= ENOUGH_ROWS and lengths[n] + BOUNDARIES < shortest * width
        if batch and (full or much_shorter):
            batches.append(batch)
            batch = []
        batch.append(n)
    if batch:
        batches.append(batch)
    return batches


def in_order(count: int, *, most_sentences: int) -> list[list[int]]:
    """Consecutive sentences in input order, as the originals batch them."""
    return [list(range(n, min(n + most_sentences, count))) for n in range(0, count, most_sentences)]
