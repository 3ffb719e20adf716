"""Resets of the carried state: at the start of a sentence a row may begin from zero, as it will when it is used.

R directions, B rows.
"""

import torch
from torch import Tensor


def kept_rows(
    first: Tensor, *, separator: int, share: float, batch: int, rows: slice, generator: torch.Generator
) -> Tensor:
    """The first inputs [R, B] of a step -> 1 where a row keeps its state and 0 where it is reset: [R, B, 1].

    A row is reset with probability `share`, and only where its first input is the separator. Numbers are drawn for all
    `batch` rows, whoever has them, so that the number of processes changes nothing.
    """
    chance = torch.rand(len(first), batch, generator=generator, device=generator.device)[:, rows]
    reset = (first == separator) & (chance < share)
    return (~reset).float()[:, :, None]
