"""The corpus on the device: an epoch is put into its reading order there, and a batch is a view of it.

The same symbols as `streams` gives, step by step. N symbols, S sentences, R directions, T steps of a window, B rows.
"""

import numpy as np
import torch
from torch import Tensor

from elmo.corpus.layout import SEPARATOR
from elmo.pretrain.data.streams import Streams, raw_keys, reading_order

PIECE = 1 << 24  # positions looked up at once while an epoch is laid out
SORTED_AT_ONCE = 1 << 26  # symbols of the windows that are counted together


def bytes_on_device(streams: Streams) -> int:
    """What the symbols, the sentences and one epoch of all directions take."""
    return 4 * (1 + streams.directions) * len(streams.all_symbols) + 24 * len(streams.sentences) + 96 * PIECE


class ResidentStreams:
    """All that `Streams` would read, held on the device. Epochs are laid out one at a time, when their turn comes."""

    def __init__(self, streams: Streams, rows: slice, device: torch.device) -> None:
        self._streams, self._device = streams, device
        self._rows = range(streams.rows)[rows]
        self._all_symbols = torch.from_numpy(np.array(streams.all_symbols, dtype=np.int32)).to(device)
        self._sentences = torch.from_numpy(np.array(streams.sentences, dtype=np.int64)).to(device)
        # [R, 1 + N]: before an epoch's first symbol stands a separator.
        self._laid_out = torch.full(
            (streams.directions, 1 + len(self._all_symbols)), SEPARATOR, dtype=torch.int32, device=device
        )
        self._epoch: int | None = None
        self._counts: list[int] = []

    def symbols(self, step: int) -> Tensor:
        """A view [R, T + 1, B] of the epoch; it changes when another epoch is asked for."""
        epoch, window = self._streams.cursor(step)
        if epoch != self._epoch:
            self._lay_out(epoch)
        return self._windows(window, 1)[:, 0]

    def distinct(self, step: int) -> int:
        epoch, window = self._streams.cursor(step)
        if epoch != self._epoch:
            self._lay_out(epoch)
        return self._counts[window]

    def most_distinct(self) -> int:
        """What the first epoch has at most, and a little more: others are alike."""
        if self._epoch != 0:
            self._lay_out(0)
        return max(self._counts) * 51 // 50

    def _windows(self, first: int, count: int) -> Tensor:
        """[R, count, T + 1, B]: time step t of row b in window w stands at b * (windows * T) + w * T + t."""
        T, stride = self._streams.window, self._streams.windows * self._streams.window
        start = self._rows.start * stride + first * T
        shape = (len(self._laid_out), count, T + 1, len(self._rows))
        return self._laid_out.as_strided(shape, (self._laid_out.shape[1], T, 1, stride), start)

    def _lay_out(self, epoch: int) -> None:
        for direction in range(self._streams.directions):
            self._lay_out_direction(direction, epoch)
        self._epoch = epoch
        self._counts = self._count_distinct()

    def _lay_out_direction(self, direction: int, epoch: int) -> None:
        """`streams.Epoch` in torch; see there for the meaning."""
        if self._streams.order == "sentence":
            keys = raw_keys(self._streams, direction=direction, epoch=epoch).view(np.int64)
            # Unsigned order from signed comparison: the highest bit is flipped.
            order = (torch.from_numpy(keys).to(self._device) ^ torch.iinfo(torch.int64).min).argsort(stable=True)
        else:
            order = torch.from_numpy(reading_order(self._streams, direction=direction, epoch=epoch)).to(self._device)
        lengths = self._sentences.diff()[order]
        starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])  # [S + 1], in the new order
        whole = self._laid_out[direction]
        for first in range(0, len(self._all_symbols), PIECE):
            positions = torch.arange(first, min(first + PIECE, len(self._all_symbols)), device=self._device)
            place = torch.searchsorted(starts, positions, right=True) - 1
            sentence, inside = order[place], positions - starts[place]
            index = self._sentences[sentence + 1] - 2 - inside if direction == 1 else self._sentences[sentence] + inside
            # -1 is the last symbol, a separator: what stands before sentence 0.
            whole[1 + first : 1 + first + len(positions)] = self._all_symbols[index]

    def _count_distinct(self) -> list[int]:
        """Of the inputs of each window, at most: the separator stands for one in each direction."""
        windows, T = self._streams.windows, self._streams.window
        at_once = max(1, SORTED_AT_ONCE // (len(self._laid_out) * T * len(self._rows)))
        counts = []
        for first in range(0, windows, at_once):
            inputs = self._windows(first, min(at_once, windows - first))[:, :, :-1]  # [R, windows, T, B]
            ordered = inputs.transpose(0, 1).flatten(1).sort(dim=1).values
            counts.append((ordered.diff(dim=1) != 0).sum(dim=1) + 2)
        found: list[int] = torch.cat(counts).tolist()
        return found
