"""WordTable: word ids to vectors, for models that read words instead of characters. The counterpart of CharCNN."""

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo.model.tokens import TokenEncoder
from elmo.model.words import WordTableConfig


class WordTable(TokenEncoder):
    """Rows of one word id [W, 1] to word vectors [W, D]. Ids are positions in the vocabulary plus 1; 0 is no token."""

    def __init__(self, config: WordTableConfig) -> None:
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.empty(config.words + 1, config.output_dim))

    def forward(self, rows: Tensor) -> Tensor:
        """rows: [W, 1] -> [W, D]."""
        return embedding(rows[:, 0].long(), self.weight)

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Fill with the original's initial distribution. [bilm-tf training.py, _build_word_embeddings]"""
        self.weight.uniform_(-1.0, 1.0, generator=generator)
        self.weight[0] = 0
