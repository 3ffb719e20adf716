"""ManyLangsTokens: the token encoder of ELMoForManyLangs. A word vector beside a CNN over code points.

W words, C characters in a row, E character vector, F filters in all, M word vector, D output.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo.errors import ConfigError
from elmo.model.charcnn import Highway
from elmo.model.tokens import Rows, TokenEncoder, TokensConfig, filters_text
from elmo.ops.charconv import char_convolution
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class ManyLangsConfig(TokensConfig):
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

    @property
    def row_length(self) -> int:
        return 1 + self.characters

    @property
    def highest_id(self) -> int:
        return max(self.words, self.alphabet) - 1

    @property
    def dictionary_sizes(self) -> tuple[int, int] | None:
        return self.words, self.alphabet

    def build(self) -> "ManyLangsTokens":
        return ManyLangsTokens(self)

    def spelling(self, vocabulary: Vocabulary | None, dictionaries: Dictionaries | None) -> "DictionarySpelling":
        """Every id must have its row."""
        if dictionaries is None:
            raise ConfigError("a model that reads words by dictionary needs its dictionaries")
        for name, ids, rows in (
            ("word", dictionaries.words, self.words),
            ("character", dictionaries.characters, self.alphabet),
        ):
            if (ids is None) != (rows == 0) or (ids and max(ids.values()) >= rows):
                raise ConfigError(f"the {name} dictionary does not fit a table of {rows:,} rows")
        if dictionaries.characters_in_row != self.characters:
            raise ConfigError(
                f"rows have {dictionaries.characters_in_row} characters, but {self.characters} are wanted"
            )
        return DictionarySpelling(dictionaries)

    def type_rows(self, spellings: npt.NDArray[np.uint8], lengths: Rows, ids: npt.NDArray[np.int64]) -> Rows:
        raise ConfigError("tokens.kind is 'manylangs', which is read, not trained; 'characters' and 'words' are")

    def facts(self) -> dict[str, str | int]:
        return {
            "words": f"{self.words:,} vectors of {self.word_dim}",
            "characters": f"{self.alphabet:,} vectors of {self.embedding_dim}",
            "filters": filters_text(self.filters),
            "highways": self.highways,
        }


class DictionarySpelling:
    """Words and their code points by the model's own dictionaries."""

    def __init__(self, dictionaries: Dictionaries) -> None:
        self._dictionaries = dictionaries

    def spell(self, words: Sequence[str]) -> Rows:
        return self._dictionaries.spell(words)

    def spell_as_originals(self, words: Sequence[str]) -> Rows:
        return self.spell(words)

    def boundary_rows(self) -> Rows:
        return self._dictionaries.boundary_rows()

    def cut_words(self, words: Iterable[str]) -> list[str]:
        return [word for word in words if self._dictionaries.is_cut(word)]


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
