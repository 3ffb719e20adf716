"""CharCNN: the characters of a word to one vector (convolutions, max-pool, highways, projection). No context here.

W words, C characters in a row, E character embedding, F filters in all, D output.
"""

import math

import torch
from torch import Tensor, nn

from elmo.model.characters import CharCNNConfig
from elmo.model.tokens import TokenEncoder
from elmo.ops.charconv import char_convolution
from elmo.ops.highway import highway
from elmo.text.chars import CHARACTER_COUNT, IN_WORD_PADDING


class Highway(nn.Module):
    """The weights of one highway layer; see `ops.highway` for their meaning."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight_carry = nn.Parameter(torch.empty(size, size))
        self.bias_carry = nn.Parameter(torch.empty(size))
        self.weight_transform = nn.Parameter(torch.empty(size, size))
        self.bias_transform = nn.Parameter(torch.empty(size))

    def forward(self, x: Tensor) -> Tensor:
        return highway(x, self.weight_carry, self.bias_carry, self.weight_transform, self.bias_transform)


class CharCNN(TokenEncoder):
    """Rows of character ids [W, C] to word vectors [W, D]."""

    def __init__(self, config: CharCNNConfig) -> None:
        super().__init__()
        self.config = config
        E, n = config.embedding_dim, config.filter_count
        self.characters = nn.Parameter(torch.empty(CHARACTER_COUNT, E))
        self.filters = nn.ParameterList(torch.empty(width, E, count) for width, count in config.filters)
        self.filter_biases = nn.ParameterList(torch.empty(count) for _, count in config.filters)
        self.highways = nn.ModuleList(Highway(n) for _ in range(config.highways))
        if config.projected:
            self.weight_projection = nn.Parameter(torch.empty(n, config.output_dim))
            self.bias_projection = nn.Parameter(torch.empty(config.output_dim))

    def forward(self, rows: Tensor) -> Tensor:
        """rows: [W, C] -> [W, D]. The answer for a word does not depend on its neighbours."""
        table: Tensor = self.characters
        weights: list[Tensor] = list(self.filters)
        if torch.is_autocast_enabled(rows.device.type):
            narrow = torch.get_autocast_dtype(rows.device.type)
            table, weights = table.to(narrow), [weight.to(narrow) for weight in weights]
        # Pool, then activate, as the original does. [bilm-tf model.py, make_convolutions]
        x = char_convolution(rows, table, weights, list(self.filter_biases), padding_id=IN_WORD_PADDING)  # [W, F]
        x = torch.relu(x) if self.config.activation == "relu" else torch.tanh(x)
        for layer in self.highways:
            x = layer(x)
        if self.config.projected:
            x = torch.addmm(self.bias_projection, x, self.weight_projection)  # [W, D]
        return x

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Fill with the original's initial distributions. [bilm-tf training.py, _build_word_char_embeddings]"""
        config = self.config
        self.characters.uniform_(-1.0, 1.0, generator=generator)
        self.characters[0] = 0
        for weight, bias in zip(self.filters, self.filter_biases, strict=True):
            if config.activation == "relu":
                weight.uniform_(-0.05, 0.05, generator=generator)
            else:
                weight.normal_(0.0, math.sqrt(1.0 / (weight.shape[0] * weight.shape[1])), generator=generator)
            bias.zero_()
        std = math.sqrt(1.0 / config.filter_count)
        for layer in self.highways:
            assert isinstance(layer, Highway)
            layer.weight_carry.normal_(0.0, std, generator=generator)
            layer.bias_carry.fill_(-2.0)
            layer.weight_transform.normal_(0.0, std, generator=generator)
            layer.bias_transform.zero_()
        if config.projected:
            self.weight_projection.normal_(0.0, std, generator=generator)
            self.bias_projection.zero_()
