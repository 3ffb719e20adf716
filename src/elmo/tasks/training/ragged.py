"""`Ragged`: rows of different lengths in one flat tensor on the device, padded out for a batch without a loop."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Integers = npt.NDArray[np.int64]


class Ragged:
    """Rows [length, ...] behind each other in `flat`; `lengths` are known on the host."""

    def __init__(self, flat: Tensor, lengths: Integers) -> None:
        self.flat, self.lengths = flat, lengths
        self._starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths)
        self._starts = self._starts.to(flat.device)

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
        places, mask = self.places(rows)
        return self.flat[places], mask

    def places(self, rows: Integers) -> tuple[Tensor, Tensor]:
        """Positions in `flat` [N, T], and where they belong to the row [N, T]."""
        device = self.flat.device
        lengths = self.lengths[rows]
        T = int(lengths.max(initial=0))
        chosen = torch.from_numpy(rows).to(device, non_blocking=True)
        steps = torch.arange(T, device=device)
        mask = steps < torch.from_numpy(lengths).to(device, non_blocking=True)[:, None]
        places = (self._starts[chosen][:, None] + steps).clamp(max=max(0, len(self.flat) - 1))
        return places, mask
