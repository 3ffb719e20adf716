"""The type table on the device: type ids of a batch to the rows that the model reads and to the words it predicts.

The separator stands for the begin-sentence or the end-sentence token: the forward direction reads `<S>` before the
first word and predicts `</S>` after the last, the backward direction the other way round.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.corpus.layout import SEPARATOR
from elmo.model.bilm import BiLMConfig
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID


class TypeTable(NamedTuple):
    """Y types; row 0 is the begin-sentence token, row Y the end-sentence token."""

    rows: Tensor  # [Y + 1, C] int16, or int64 word ids [Y + 1, 1]
    targets: Tensor  # [Y] int64

    def to(self, device: torch.device) -> "TypeTable":
        """The same on a device."""
        return TypeTable(self.rows.to(device), self.targets.to(device))

    def input_rows(self, types: Tensor) -> Tensor:
        """Type ids [R, ...] -> numbers of rows [R, ...]."""
        rows = types.long()
        if len(rows) == 2:
            backward = rows[1].masked_fill(rows[1] == SEPARATOR, len(self.rows) - 1)
            rows = torch.stack([rows[0], backward])
        return rows

    def target_ids(self, types: Tensor) -> Tensor:
        """Type ids [R, ...] -> vocabulary ids [R, ...]."""
        ends = (END_SENTENCE_ID, BEGIN_SENTENCE_ID)[: len(types)]
        each = [
            self.targets[own.long()].masked_fill(own == SEPARATOR, end) for own, end in zip(types, ends, strict=True)
        ]
        return torch.stack(each)


def make_type_table(
    type_bytes: npt.NDArray[np.uint8],
    type_lengths: npt.NDArray[np.uint8],
    type_targets: npt.NDArray[np.int32],
    config: BiLMConfig,
) -> TypeTable:
    """The table for a model that reads characters, or words."""
    targets = torch.from_numpy(np.array(type_targets, dtype=np.int64))
    rows = config.tokens.type_rows(type_bytes, type_lengths, targets.numpy())
    return TypeTable(torch.from_numpy(rows), targets)
