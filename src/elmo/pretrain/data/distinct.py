"""The distinct rows of a batch: each is encoded once, and every position refers to its place among them.

Y rows of the table, U distinct ones.
"""

from collections.abc import Callable

import torch
from torch import Tensor

# Numbers of rows [R, T, B] -> distinct rows [U], and for each position its place among them [R, T, B].
Distinct = Callable[[Tensor], tuple[Tensor, Tensor]]


def distinct_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """As many as there are; on a GPU this waits for the device to count them."""
    distinct, inverse = torch.unique(rows, return_inverse=True)
    return distinct, inverse


def distinct_rows_within(capacity: int, *, table_rows: int) -> Distinct:
    """A fixed number of places, for a step that is captured: shapes depend on no value, and nothing waits.

    The caller sees to it that no batch has more distinct rows. Places left over hold row 0 and are never referred to.
    """

    def find(rows: Tensor) -> tuple[Tensor, Tensor]:
        device = rows.device
        present = torch.zeros(table_rows, dtype=torch.int32, device=device)
        present.scatter_(0, rows.flatten(), torch.ones_like(rows.flatten(), dtype=torch.int32))
        place = present.cumsum(0) - 1  # [Y]
        # Rows that are absent all write to one place behind the end.
        slot = place.masked_fill(present == 0, capacity).clamp_(max=capacity)
        distinct = torch.zeros(capacity + 1, dtype=torch.int64, device=device)
        distinct.scatter_(0, slot, torch.arange(table_rows, device=device))
        return distinct[:capacity], place[rows]

    return find
