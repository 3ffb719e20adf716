"""ManyLangsTokens: the token encoder of ELMoForManyLangs. A word vector beside a CNN over code points.

W words, C characters in a row, E character vector, F filters in all, M word vector, D output.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo.errors import ConfigError
from elmo.model.charcnn import Highway
from elmo.ops.charconv import char_convolution


@dataclass(frozen=True, kw_only=True)
class ManyLangsConfig:
    """Sizes of `ManyLangsTokens`. Without words `words` and `word_dim` are 0, without characters the others are."""

    kind: Literal["manylangs"] = "manylangs"
    words: int = 0
    word_dim: int = 0
    alphabet: int = 0
    embedding_dim: int = 0
    filters: tuple[tuple[int, int], ...] = ()
    highways: int = 0
    activation: Literal["relu", "tanh"] = "relu"
    characters: int = 0
    padding: int = 0  # the id that fills rows up; it differs from model to model
    output_dim: int

    def __post_init__(self) -> None:
        for name in ("words", "word_dim", "alphabet", "embedding_dim", "highways", "characters", "padding"):
            if getattr(self, name) < 0:
                raise ConfigError(f"tokens.{name} is {getattr(self, name)}; it must not be negative")
        if self.output_dim < 1:
            raise ConfigError(f"tokens.output_dim is {self.output_dim}; it must be at least 1")
        if bool(self.words) != bool(self.word_dim):
            raise ConfigError(f"tokens.words is {self.words} and tokens.word_dim {self.word_dim}; both or neither")
        spelled = {bool(v) for v in (self.alphabet, self.embedding_dim, self.filters, self.characters)}
        if len(spelled) > 1:
            raise ConfigError("tokens.alphabet, embedding_dim, filters and characters are given all or none")
        if not self.words and not self.alphabet:
            raise ConfigError(
                "tokens.words and tokens.alphabet are 0; a token is read as a word, as characters or both"
            )
        for width, count in self.filters:
            if not (1 <= width <= self.characters and count >= 1):
                raise ConfigError(
                    f"tokens.filters has [{width}, {count}]; a width is 1 to {self.characters}, a count at least 1"
                )

    @property
    def filter_count(self) -> int:
        """Filters of all widths together (F)."""
        return sum(count for _, count in self.filters)


class ManyLangsTokens(nn.Module):
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
