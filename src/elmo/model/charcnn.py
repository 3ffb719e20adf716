"""CharCNN: the characters of a word to one vector (convolutions, max-pool, highways, projection). No context here.

W words, C characters in a row, E character embedding, F filters in all, D output.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.tokens import Rows, TokenEncoder, TokensConfig, filters_text
from elmo.ops.charconv import char_convolution
from elmo.ops.cpu.kernels import PackedCharEncoder, PackedHighway
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.highway import highway
from elmo.text import chars
from elmo.text.chars import CHARACTER_COUNT, CHARACTERS_IN_ROW, IN_WORD_PADDING
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class CharCNNConfig(TokensConfig):
    """Sizes of a `CharCNN`. `filters` are pairs of width and count."""

    kind: Literal["characters"] = "characters"
    embedding_dim: int
    filters: tuple[tuple[int, int], ...]
    highways: int = 0
    activation: Literal["relu", "tanh"] = "relu"
    output_dim: int
    characters: int = CHARACTERS_IN_ROW

    def __post_init__(self) -> None:
        if not self.filters:
            raise ConfigError("tokens.filters is empty; give at least one [width, count]")
        for width, count in self.filters:
            if not (1 <= width <= self.characters and count >= 1):
                raise ConfigError(
                    f"tokens.filters has [{width}, {count}]; a width is 1 to {self.characters}, a count at least 1"
                )
        for name in ("embedding_dim", "output_dim"):
            if getattr(self, name) < 1:
                raise ConfigError(f"tokens.{name} is {getattr(self, name)}; it must be at least 1")
        if self.highways < 0:
            raise ConfigError(f"tokens.highways is {self.highways}; it must not be negative")
        if self.characters < 3:
            raise ConfigError(f"tokens.characters is {self.characters}; a row needs at least 3")

    @property
    def filter_count(self) -> int:
        """Filters of all widths together (F)."""
        return sum(count for _, count in self.filters)

    @property
    def projected(self) -> bool:
        """Whether a projection stands at the end: the original has one only where it changes the size."""
        return self.filter_count != self.output_dim

    @property
    def row_length(self) -> int:
        return self.characters

    @property
    def highest_id(self) -> int:
        return CHARACTER_COUNT - 1

    def build(self) -> "CharCNN":
        return CharCNN(self)

    def spelling(self, vocabulary: Vocabulary | None, dictionaries: Dictionaries | None) -> "CharacterSpelling":
        return CharacterSpelling(self.characters)

    def type_rows(self, spellings: npt.NDArray[np.uint8], lengths: Rows, ids: npt.NDArray[np.int64]) -> Rows:
        K = self.characters - 2
        if spellings.shape[1] < K:
            raise ConfigError(
                f"tokens.characters is {self.characters}, but the corpus store keeps {spellings.shape[1]} bytes of a "
                f"word; use at most {spellings.shape[1] + 2}"
            )
        rows = chars.rows_from_bytes(np.ascontiguousarray(spellings[:, :K]), np.minimum(lengths, K).astype(np.int64))
        boundaries = chars.boundary_rows(characters=self.characters)
        return np.concatenate([boundaries[:1], rows[1:], boundaries[1:]])

    def training_numbers(self, words: int, *, columns: int) -> int:
        windows = sum((columns - width + 1) * (width * self.embedding_dim + count) for width, count in self.filters)
        return words * (windows + self.filter_count * (2 + 6 * self.highways) + self.output_dim)

    def facts(self) -> dict[str, str | int]:
        return {
            "character vectors": self.embedding_dim,
            "filters": filters_text(self.filters),
            "highways": self.highways,
            "activation": self.activation,
            "characters in a row": self.characters,
        }


class CharacterSpelling:
    """Words as their UTF-8 bytes; see `elmo.text.chars`."""

    def __init__(self, characters: int) -> None:
        self._characters = characters

    def spell(self, words: Sequence[str]) -> Rows:
        return chars.spell(words, characters=self._characters)

    def spell_as_originals(self, words: Sequence[str]) -> Rows:
        return chars.spell_as_originals(words, characters=self._characters)

    def boundary_rows(self) -> Rows:
        return chars.boundary_rows(characters=self._characters)

    def cut_words(self, words: Iterable[str]) -> list[str]:
        # A character has four bytes at most, so that most words need no second look.
        safe = (self._characters - 2) // 4
        return [word for word in words if len(word) > safe and chars.is_cut(word, characters=self._characters)]


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

    def packed(self, *, int8: bool, file: PackedFile | None = None) -> PackedCharEncoder:
        """`forward` as one kernel."""
        highways = []
        for layer in self.highways:
            assert isinstance(layer, Highway)
            weights = (layer.weight_carry, layer.bias_carry, layer.weight_transform, layer.bias_transform)
            highways.append(PackedHighway(*weights, int8=int8, file=file))
        config = self.config
        return PackedCharEncoder(
            self.characters,
            list(self.filters),
            list(self.filter_biases),
            characters=config.characters,
            padding_id=IN_WORD_PADDING,
            activation=config.activation,
            highways=highways,
            projection=(self.weight_projection, self.bias_projection) if config.projected else None,
            int8=int8,
            file=file,
        )

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
