"""Models that read words by a vocabulary: their configuration, and how words are written for them. No torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from elmo.errors import ConfigError
from elmo.model.kinds import Rows, Shape, Tensors, TokensConfig
from elmo.ops.cpu.making import Encode, Making
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID, Vocabulary

if TYPE_CHECKING:
    from elmo.model.wordtable import WordTable


@dataclass(frozen=True, kw_only=True)
class WordTableConfig(TokensConfig):
    """Sizes of a `WordTable`. `words` counts the vocabulary with its three specials."""

    reads_words: ClassVar[bool] = True

    kind: Literal["words"] = "words"
    words: int
    output_dim: int

    def __post_init__(self) -> None:
        if self.words < 3:
            raise ConfigError(f"tokens.words is {self.words}; a vocabulary has at least <S>, </S> and <UNK>")
        if self.output_dim < 1:
            raise ConfigError(f"tokens.output_dim is {self.output_dim}; it must be at least 1")

    @property
    def row_length(self) -> int:
        return 1

    @property
    def highest_id(self) -> int:
        return self.words

    def build(self) -> "WordTable":
        from elmo.model.wordtable import WordTable

        return WordTable(self)

    def shapes(self) -> dict[str, Shape]:
        return {"weight": (self.words + 1, self.output_dim)}

    def frozen(self, weights: Tensors, making: Making) -> Encode:
        table = making.numbers(weights["weight"])
        return lambda rows: table[rows[:, 0]]

    def spelling(self, vocabulary: Vocabulary | None, dictionaries: Dictionaries | None) -> "WordSpelling":
        if vocabulary is None:
            raise ConfigError("a model that reads word ids needs its vocabulary")
        self.require_vocabulary(len(vocabulary))
        return WordSpelling(vocabulary)

    def type_rows(self, spellings: npt.NDArray[np.uint8], lengths: Rows, ids: npt.NDArray[np.int64]) -> Rows:
        return np.concatenate([[BEGIN_SENTENCE_ID], ids[1:], [END_SENTENCE_ID]])[:, None] + 1

    def require_vocabulary(self, words: int) -> None:
        if words != self.words:
            raise ConfigError(
                f"the vocabulary has {words:,} words, but {self.words:,} are wanted, one for each row of the word "
                "vectors (tokens.words)"
            )

    def facts(self) -> dict[str, str | int]:
        return {"words": self.words}


class WordSpelling:
    """A word as its place in the vocabulary plus 1."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def spell(self, words: Sequence[str]) -> Rows:
        return self._vocabulary.ids_of(words)[:, None] + 1

    def spell_as_originals(self, words: Sequence[str]) -> Rows:
        return self.spell(words)

    def boundary_rows(self) -> Rows:
        return np.array([[BEGIN_SENTENCE_ID + 1], [END_SENTENCE_ID + 1]])

    def cut_words(self, words: Iterable[str]) -> list[str]:
        return []
