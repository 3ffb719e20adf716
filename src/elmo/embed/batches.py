"""Batches by token budget: sentences of like length together, never more positions than the budget allows."""

from collections.abc import Sequence

BOUNDARIES = 2  # every sentence is read with its begin and its end token


def by_length(lengths: Sequence[int], *, most_sentences: int, most_positions: int) -> list[list[int]]:
    """Indices of sentences, longest batch first; rows x longest row (boundaries counted) stays within the budget.

    A sentence that alone is over the budget stands alone.
    """
    order = sorted(range(len(lengths)), key=lambda n: (-lengths[n], n))
    batches: list[list[int]] = []
    batch: list[int] = []
    for n in order:
        width = (lengths[batch[0]] if batch else lengths[n]) + BOUNDARIES
        if batch and (len(batch) == most_sentences or (len(batch) + 1) * width > most_positions):
            batches.append(batch)
            batch = []
        batch.append(n)
    if batch:
        batches.append(batch)
    return batches


def in_order(count: int, *, most_sentences: int) -> list[list[int]]:
    """Consecutive sentences in input order, as the originals batch them."""
    return [list(range(n, min(n + most_sentences, count))) for n in range(0, count, most_sentences)]
