"""Models of ELMoForManyLangs: their configuration, and how words are written by their own dictionaries. No torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from elmo.errors import ConfigError
from elmo.model.characters import char_weights, filter_shapes, highway_shapes
from elmo.model.kinds import Rows, Shape, Tensors, TokensConfig, filters_text
from elmo.ops.cpu.making import Encode, Making
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from elmo.model.manylangs import ManyLangsTokens


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
        from elmo.model.manylangs import ManyLangsTokens

        return ManyLangsTokens(self)

    def shapes(self) -> dict[str, Shape]:
        F = self.filter_count
        shapes: dict[str, Shape] = {}
        if self.words:
            shapes["words"] = (self.words, self.word_dim)
        if self.alphabet:
            shapes["characters"] = (self.alphabet, self.embedding_dim)
        shapes |= filter_shapes(self.filters, self.embedding_dim)
        shapes |= highway_shapes(self.highways if self.alphabet else 0, F)
        return shapes | {
            "weight_projection": (self.word_dim + F, self.output_dim),
            "bias_projection": (self.output_dim,),
        }

    def frozen(self, weights: Tensors, making: Making) -> Encode:
        weight, bias = weights["weight_projection"], weights["bias_projection"]
        words = making.numbers(weights["words"]) if self.words else None
        upper = making.numbers(weight[: self.word_dim])
        if not self.alphabet:
            assert words is not None
            last = making.numbers(bias)
            return lambda rows: words[rows[:, 0]] @ upper + last
        # The projection of both parts side by side is the sum of two: that of the spelling belongs to its encoder.
        projection = (weight[self.word_dim :], bias)
        spelled = making.encoder(char_weights(self, weights, padding_id=self.padding, projection=projection))
        if words is None:
            return lambda rows: spelled(rows[:, 1:])
        return lambda rows: spelled(rows[:, 1:]) + words[rows[:, 0]] @ upper

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
