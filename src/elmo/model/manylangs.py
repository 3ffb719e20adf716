"""ManyLangsTokens: the token encoder of ELMoForManyLangs. A word vector beside a CNN over code points.

W words, C characters in a row, E character vector, F filters in all, M word vector, D output.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo.model.charcnn import Highway
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.tokens import TokenEncoder
from elmo.ops.charconv import char_convolution


class ManyLangsTokens(TokenEncoder):
    """Rows [W, 1 + C] of a word id and character ids to word vectors [W, D]."""

    def __init__(self, config: ManyLangsConfig) -> None:
        super().__init__()
        self.config = config
        E, F = config.embedding_dim, config.filter_count
        if config.words:
            self.words = nn.Parameter(torch.empty(config.words, config.word_dim))
        if config.alphabet:
            self.characters = nn.Parameter(torch.empty(config.alphabet, E))
        self.filters = nn.ParameterList(torch.empty(width, E, count) for width, count in config.filters)
        self.filter_biases = nn.ParameterList(torch.empty(count) for _, count in config.filters)
        self.highways = nn.ModuleList(Highway(F) for _ in range(config.highways if config.alphabet else 0))
        self.weight_projection = nn.Parameter(torch.empty(config.word_dim + F, config.output_dim))
        self.bias_projection = nn.Parameter(torch.empty(config.output_dim))

    def forward(self, rows: Tensor) -> Tensor:
        """rows: [W, 1 + C] -> [W, D]."""
        parts = []
        if self.config.words:
            parts.append(embedding(rows[:, 0].long(), self.words))  # [W, M]
        if self.config.alphabet:
            parts.append(self._spelled(rows[:, 1:]))  # [W, F]
        return torch.addmm(self.bias_projection, torch.cat(parts, dim=1), self.weight_projection)

    def _spelled(self, rows: Tensor) -> Tensor:
        biases = list(self.filter_biases)  # x below: [W, F]
        x = char_convolution(
            rows, self.characters, list(self.filters), biases, padding_id=self.config.padding
        )  # [W, F]
        x = torch.relu(x) if self.config.activation == "relu" else torch.tanh(x)
        for highway in self.highways:
            x = highway(x)
        return x

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Fill with small random numbers. These models are read, not trained, so no original's distribution is kept."""
        for parameter in self.parameters():
            parameter.uniform_(-0.25, 0.25, generator=generator)
