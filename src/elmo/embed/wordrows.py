"""Rows of ids to word vectors, such that the bits of a word's vector do not depend on the words that stand beside it.

Which words are encoded together depends on what was embedded before, and, where threads share a model, on chance.
"""

from typing import Any

import torch
from torch import Tensor

from elmo.ops.cpu.kernels import PackedCharEncoder

# Libraries of matrix products choose their order of summation by the number of rows. On a CPU the rows of whole blocks
# of 8 are summed alike, whatever their number; on a GPU only an equal number of rows is a certain thing.
ROWS_ON_CPU, ROWS_ON_GPU = 16, 1024


def word_vectors(tokens: Any, rows: Tensor) -> Tensor:
    """rows: [W, C] -> [W, D] by `tokens`, a biLM's token layer or its packed copy, without gradients."""
    W = len(rows)
    if isinstance(tokens, PackedCharEncoder) or not W:
        vectors = tokens(rows)  # the compiled kernels sum in one order
    elif rows.is_cuda:
        vectors = torch.cat([tokens(block) for block in _filled(rows, ROWS_ON_GPU).split(ROWS_ON_GPU)])[:W]
    else:
        vectors = tokens(_filled(rows, ROWS_ON_CPU))[:W]
    assert isinstance(vectors, Tensor)
    return vectors


def _filled(rows: Tensor, unit: int) -> Tensor:
    """The first row once more, until the last block is full."""
    return torch.cat([rows, rows[:1].expand(-len(rows) % unit, -1)])
