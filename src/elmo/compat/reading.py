"""`CarryingBiLM`: rows of ids to the layers of each token, as both originals run them; torch is for a GPU alone.

N sentences, T positions with boundaries, C ids in a row, W rows, L layers with the tokens, D size of a direction.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.compat.carried import CarriedState
from elmo.compat.rows import RowCache, lengths_of
from elmo.embed.contextualize import Runner, lengths_for
from elmo.embed.runners import HasWeights, choose_runner, computing, rows_for
from elmo.embed.wordrows import word_vectors
from elmo.ops.arrays import Array, host


class Activations(NamedTuple):
    """What a batch comes to."""

    layers: npt.NDArray[Any]  # [L, N, T, 2D]
    vectors: npt.NDArray[Any]  # [N, T, D], of the tokens alone
    lengths: npt.NDArray[Any]  # [N]


class CarryingBiLM:
    """Each call starts where the one before ended, row by row (`state`). A row of characters is encoded once."""

    def __init__(self, model: HasWeights, *, device: str) -> None:
        self.config = model.config
        self.state = CarriedState()
        self._runner = choose_runner(model, device=device, dtype="float32")
        self._vectors = self._encode if self.config.tokens.reads_words else RowCache(self._encode, config=self.config)

    def __call__(self, rows: npt.NDArray[np.integer]) -> Activations:
        """Rows of ids with boundaries [N, T, C], zeros where there is no token."""
        lengths = lengths_of((rows > 0).any(-1))  # [N]
        with computing(self._runner, threads=None):
            flat = self._vectors(rows.reshape(-1, rows.shape[2]))
            x = flat.reshape(*rows.shape[:2], flat.shape[1])  # [N, T, D]
            start = self.state.start(self._runner, len(x))
            computed, after = self._runner(x, lengths_for(x, lengths), start)
            self.state.keep(after)
            layers, vectors = host(computed), host(x)
        layers[0] = np.concatenate([vectors] * self.config.lstm.directions, axis=-1)
        return Activations(layers, vectors, lengths)

    def _encode(self, rows: npt.NDArray[np.integer]) -> Array:
        return encode_rows(self._runner, rows)


def encode_rows(runner: Runner, rows: npt.NDArray[np.integer]) -> Array:
    """Rows of ids [W, C] -> token vectors [W, D]."""
    return word_vectors(runner.tokens, rows_for(runner, rows))
