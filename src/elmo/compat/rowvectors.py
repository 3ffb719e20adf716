"""`RowVectors`: rows of character ids as token vectors of torch's biLM, remembered while it does not learn.

W words, C characters in a row, D size of a token vector.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.compat.inference import Inference
from elmo.compat.rows import RowCache
from elmo.embed.runners import weights_stamp


class RowVectors:
    """A row of characters is encoded once. When a weight is not the one it was, all is forgotten."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self._cache = RowCache(self._encode, config=inference.bilm.config)
        self._stamp: object = None

    def __call__(self, rows: Tensor) -> Tensor:
        """Rows of ids [W, C] -> token vectors [W, D]."""
        if self._inference.learns:
            return self._learning(rows)
        stamp = weights_stamp(self._inference.bilm)
        if stamp != self._stamp:
            self._cache.clear()
            self._stamp = stamp
        # The table outlives this call, so it must not be bound to the caller's inference mode.
        with torch.inference_mode(False), torch.no_grad():
            vectors = self._cache(rows.cpu().numpy())
            return torch.from_numpy(vectors) if isinstance(vectors, np.ndarray) else vectors

    def _learning(self, rows: Tensor) -> Tensor:
        """Each distinct row encoded once, with gradients."""
        distinct, index = torch.unique(rows, dim=0, return_inverse=True)
        return self._inference.tokens(distinct)[index]

    def _encode(self, rows: npt.NDArray[np.int64]) -> Tensor:
        return self._inference.tokens(torch.from_numpy(rows).to(self._inference.bilm.settled_h.device))

    def __getstate__(self) -> Inference:
        return self._inference

    def __setstate__(self, inference: Inference) -> None:
        self.__init__(inference)  # type: ignore[misc]
