"""`CharacterEncoder`: a word's characters to one vector, learned with the task. W words, C characters in a row."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.tasks.embedding.config import CharactersConfig
from elmo.text.chars import CHARACTER_COUNT, IN_WORD_PADDING


class CharacterEncoder(nn.Module):
    """Embedding, convolution, ReLU, largest value over the positions that touch the word."""

    def __init__(self, config: CharactersConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(CHARACTER_COUNT, config.dim)
        self.convolution = nn.Conv1d(config.dim, config.filters, config.width, padding=config.width // 2)
        nn.init.uniform_(self.embedding.weight, -((3 / config.dim) ** 0.5), (3 / config.dim) ** 0.5)

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of character ids [W, C], with their marks at both ends of the word -> [W, filters]."""
        alive = rows != IN_WORD_PADDING  # [W, C]
        x = self.embedding(rows) * alive[:, :, None]  # [W, C, dim]
        y = self.convolution(x.transpose(1, 2))[:, :, : rows.shape[1]]  # [W, filters, C]
        lowest = torch.finfo(y.dtype).min
        return F.relu(y.masked_fill(~alive[:, None], lowest).amax(2))
