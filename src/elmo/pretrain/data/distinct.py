"""The distinct symbols of a batch: each is encoded once, and every position refers to its place among them.

Y symbols that there are, U distinct ones of a batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor

# Symbols [R, T, B] -> distinct ones [U], and for each position its place among them [R, T, B].
Distinct = Callable[[Tensor], tuple[Tensor, Tensor]]


def distinct_symbols(symbols: Tensor) -> tuple[Tensor, Tensor]:
    """As many as there are; on a GPU this waits for the device to count them."""
    distinct, inverse = torch.unique(symbols, return_inverse=True)
    return distinct, inverse


def distinct_symbols_within(capacity: int, *, symbol_count: int) -> Distinct:
    """A fixed number of places, for a step that is captured: shapes depend on no value, and nothing waits.

    The caller sees to it that no batch has more distinct symbols. Places left over hold symbol 0, never referred to.
    """

    def find(symbols: Tensor) -> tuple[Tensor, Tensor]:
        device = symbols.device
        present = torch.zeros(symbol_count, dtype=torch.int32, device=device)
        present.scatter_(0, symbols.flatten(), torch.ones_like(symbols.flatten(), dtype=torch.int32))
        place = present.cumsum(0) - 1  # [Y]
        # Symbols that are absent all write to one place behind the end.
        slot = place.masked_fill(present == 0, capacity).clamp_(max=capacity)
        distinct = torch.zeros(capacity + 1, dtype=torch.int64, device=device)
        distinct.scatter_(0, slot, torch.arange(symbol_count, device=device))
        return distinct[:capacity], place[symbols]

    return find
