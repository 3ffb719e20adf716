"""The type table on the device: symbols (type ids) to the rows that the model reads and the words it predicts.

The separator stands for the begin-sentence or the end-sentence token: the forward direction reads `<S>` before the
first word and predicts `</S>` after the last, the backward direction the other way round.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.corpus.layout import SEPARATOR
from elmo.corpus.store import CorpusStore
from elmo.model.architecture import BiLMConfig
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID
from elmo.weights.loaded import LoadedModel


class TypeTable(NamedTuple):
    """Y types. The row of each symbol that is read; 0 is the begin-sentence token, Y the end-sentence token."""

    rows: Tensor  # [Y + 1, C] int16, or int64 word ids [Y + 1, 1]
    targets: Tensor  # [Y] int64

    def to(self, device: torch.device) -> "TypeTable":
        """The same on a device."""
        return TypeTable(self.rows.to(device), self.targets.to(device))

    def input_symbols(self, symbols: Tensor) -> Tensor:
        """Symbols [R, ...] as they are read: the separator of the backward direction becomes symbol Y."""
        symbols = symbols.long()
        if len(symbols) == 2:
            backward = symbols[1].masked_fill(symbols[1] == SEPARATOR, len(self.rows) - 1)
            symbols = torch.stack([symbols[0], backward])
        return symbols

    def target_ids(self, symbols: Tensor) -> Tensor:
        """Symbols [R, ...] -> vocabulary ids [R, ...]."""
        ends = (END_SENTENCE_ID, BEGIN_SENTENCE_ID)[: len(symbols)]
        each = [
            self.targets[own.long()].masked_fill(own == SEPARATOR, end) for own, end in zip(symbols, ends, strict=True)
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


def type_table_for(model: LoadedModel, store: CorpusStore) -> TypeTable:
    """A store's type table with the model's own vocabulary as targets, whatever the store's is."""
    assert model.vocabulary is not None
    targets = store.with_vocabulary(model.vocabulary).type_targets
    return make_type_table(store.type_bytes, store.type_lengths, targets, model.config)
