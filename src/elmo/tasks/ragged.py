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
        self._device_lengths = torch.from_numpy(lengths).to(flat.device)

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
        chosen = torch.from_numpy(rows).to(self.flat.device, non_blocking=True)
        return self.padded_to(chosen, int(self.lengths[rows].max(initial=0)))

    def padded_to(self, rows: Tensor, T: int) -> tuple[Tensor, Tensor]:
        """The same for rows given on the device, padded to T: nothing waits for the device."""
        positions, mask = self.positions(rows, T)
        return self.flat[positions], mask

    def positions(self, rows: Tensor, T: int) -> tuple[Tensor, Tensor]:
        """Where in `flat` what they are padded to stands [N, T], and where that is themselves [N, T]."""
        steps = torch.arange(T, device=self.flat.device)
        positions = (self._device_starts[rows][:, None] + steps).clamp(max=max(0, len(self.flat) - 1))
        return positions, steps < self._device_lengths[rows][:, None]

    def zero_padded(self, rows: Integers) -> Tensor:
        """Some rows of numbers, zero past their ends: [N, T]."""
        values, mask = self.padded(rows)
        return values * mask


def row_starts(lengths: Integers) -> Integers:
    """Where each of rows behind each other begins."""
    return np.concatenate([[0], np.cumsum(lengths)])[: len(lengths)].astype(np.int64)
