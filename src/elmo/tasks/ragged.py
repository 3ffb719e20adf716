"""`Ragged`: rows of different lengths in one flat tensor on the device, padded out for a batch without a loop."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Integers = npt.NDArray[np.int64]


class Ragged:
    """Rows [length, ...] behind each other in `flat`; `lengths` and `starts` are known on the host."""

    def __init__(self, flat: Tensor, lengths: Integers) -> None:
        self.flat, self.lengths, self.starts = flat, lengths, row_starts(lengths)
        self._device_starts = torch.from_numpy(self.starts).to(flat.device)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], *, device: torch.device) -> "Ragged":
        """Rows of integers."""
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        flat = np.fromiter((n for row in rows for n in row), dtype=np.int64, count=int(lengths.sum()))
        return cls(torch.from_numpy(flat).to(device), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, rows: Integers) -> tuple[Tensor, Tensor]:
        """Some rows, padded with whatever stands behind them [N, T, ...], and where they are themselves [N, T]."""
        device = self.flat.device
        lengths = self.lengths[rows]
        T = int(lengths.max(initial=0))
        chosen = torch.from_numpy(rows).to(device, non_blocking=True)
        steps = torch.arange(T, device=device)
        mask = steps < torch.from_numpy(lengths).to(device, non_blocking=True)[:, None]
        positions = (self._device_starts[chosen][:, None] + steps).clamp(max=max(0, len(self.flat) - 1))
        return self.flat[positions], mask

    def zero_padded(self, rows: Integers) -> Tensor:
        """Some rows of numbers, zero past their ends: [N, T]."""
        values, mask = self.padded(rows)
        return values * mask


def row_starts(lengths: Integers) -> Integers:
    """Where each of rows behind each other begins."""
    return np.concatenate([[0], np.cumsum(lengths)])[: len(lengths)].astype(np.int64)
