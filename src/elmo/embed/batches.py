"""Batches by token budget: sentences of like length together, never more positions than the budget allows."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

BOUNDARIES = 2  # every sentence is read with its begin and its end token
ENOUGH_ROWS = 256


def by_length(
    lengths: Sequence[int] | npt.NDArray[np.int64], *, most_sentences: int, most_positions: int, shortest: float = 0.0
) -> list[list[int]]:
    """Indices of sentences, longest batch first; rows x longest row (boundaries counted) stays within the budget.

    A sentence that alone is over the budget stands alone. One shorter than `shortest` times the longest of a batch
    that has `ENOUGH_ROWS` already begins a new batch: for those who compute the padding.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-sizes, kind="stable")
    widths = sizes[order] + BOUNDARIES  # falling
    batches: list[list[int]] = []
    start = 0
    while start < len(order):
        width = int(widths[start])
        full = start + max(1, min(most_sentences, most_positions // width))
        much_shorter = int(np.searchsorted(-widths, -shortest * width, side="right"))
        stop = min(full, max(start + ENOUGH_ROWS, much_shorter))
        batches.append(order[start:stop].tolist())
        start = stop
    return batches


def in_order(count: int, *, most_sentences: int) -> list[list[int]]:
    """Consecutive sentences in input order, as the originals batch them."""
    return [list(range(n, min(n + most_sentences, count))) for n in range(0, count, most_sentences)]
