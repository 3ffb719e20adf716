"""Rows of ids to word vectors, such that the bits of a word's vector do not depend on the words that stand beside it.

Which words are encoded together depends on what was embedded before, and, where threads share a model, on chance.
"""

from typing import Any

import numpy as np

from elmo.ops.arrays import Array, concatenate

# Libraries of matrix products choose their order of summation by the number of rows. On a CPU the rows of whole blocks
# of 8 are summed alike, whatever their number; on a GPU only an equal number of rows is a certain thing.
ROWS_ON_CPU, ROWS_ON_GPU = 16, 1024


def word_vectors(tokens: Any, rows: Array) -> Array:
    """rows: [W, C] -> [W, D] by `tokens`, a biLM's token layer, without gradients; arrays by one of `PackedBiLM`'s."""
    W = len(rows)
    if isinstance(rows, np.ndarray) or not W:
        return tokens(rows)  # it sees to it itself
    if rows.is_cuda:
        return concatenate([tokens(block) for block in _filled(rows, ROWS_ON_GPU).split(ROWS_ON_GPU)])[:W]
    return tokens(_filled(rows, ROWS_ON_CPU))[:W]


def _filled(rows: Array, unit: int) -> Array:
    """The first row once more, until the last block is full."""
    return concatenate([rows, rows[:1].expand(-len(rows) % unit, -1)])
