"""Models that read words as characters: their configuration, and how words are written for them. No torch.

W words, C characters in a row, E character embedding, F filters in all, D output.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from elmo.errors import ConfigError
from elmo.model.kinds import Rows, Shape, Tensors, TokensConfig, filters_text
from elmo.ops.cpu.characters import CharWeights, HighwayWeights
from elmo.ops.cpu.making import Encode, Making
from elmo.text import chars
from elmo.text.chars import CHARACTER_COUNT, CHARACTERS_IN_ROW, IN_WORD_PADDING
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from elmo.model.charcnn import CharCNN

Filters = tuple[tuple[int, int], ...]  # width and count of each
Numbers = npt.NDArray[Any]


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
        from elmo.model.charcnn import CharCNN

        return CharCNN(self)

    def shapes(self) -> dict[str, Shape]:
        E, F = self.embedding_dim, self.filter_count
        shapes: dict[str, Shape] = {"characters": (CHARACTER_COUNT, E), **filter_shapes(self.filters, E)}
        shapes |= highway_shapes(self.highways, F)
        if self.projected:
            shapes |= {"weight_projection": (F, self.output_dim), "bias_projection": (self.output_dim,)}
        return shapes

    def frozen(self, weights: Tensors, making: Making) -> Encode:
        projection = (weights["weight_projection"], weights["bias_projection"]) if self.projected else None
        return making.encoder(char_weights(self, weights, padding_id=IN_WORD_PADDING, projection=projection))

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


def filter_shapes(filters: Filters, embedding_dim: int) -> dict[str, Shape]:
    """The convolutions' weights."""
    shapes: dict[str, Shape] = {}
    for n, (width, count) in enumerate(filters):
        shapes |= {f"filters.{n}": (width, embedding_dim, count), f"filter_biases.{n}": (count,)}
    return shapes


def highway_shapes(highways: int, size: int) -> dict[str, Shape]:
    """The highways' weights."""
    shapes: dict[str, Shape] = {}
    for k in range(highways):
        for gate in ("carry", "transform"):
            shapes |= {f"highways.{k}.weight_{gate}": (size, size), f"highways.{k}.bias_{gate}": (size,)}
    return shapes


class HasCharacters(Protocol):
    """A configuration with convolutions over characters."""

    @property
    def filters(self) -> Filters: ...
    @property
    def highways(self) -> int: ...
    @property
    def activation(self) -> str: ...
    @property
    def characters(self) -> int: ...


def char_weights(
    config: HasCharacters, weights: Tensors, *, padding_id: int, projection: tuple[Numbers, Numbers] | None
) -> CharWeights:
    """The weights by name as the operations of a CPU take them."""
    names = ("weight_carry", "bias_carry", "weight_transform", "bias_transform")
    return CharWeights(
        table=weights["characters"],
        filters=[weights[f"filters.{n}"] for n in range(len(config.filters))],
        biases=[weights[f"filter_biases.{n}"] for n in range(len(config.filters))],
        characters=config.characters,
        padding_id=padding_id,
        activation=config.activation,
        highways=[HighwayWeights(*(weights[f"highways.{k}.{name}"] for name in names)) for k in range(config.highways)],
        projection=projection,
    )
