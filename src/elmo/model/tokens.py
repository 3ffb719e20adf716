"""TokenEncoder: what the networks that read tokens have in common, whatever their configuration (`kinds`)."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class TokenEncoder(nn.Module, ABC):
    """Rows of ids [W, C] to word vectors [W, D]. The answer for a word does not depend on its neighbours."""

    @abstractmethod
    def forward(self, rows: Tensor) -> Tensor:
        """rows: [W, C] -> [W, D]."""

    @abstractmethod
    def initialize(self, generator: torch.Generator) -> None:
        """Fill all parameters with the original's initial distributions."""
