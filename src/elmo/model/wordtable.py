"""WordTable: word ids to vectors, for models that read words instead of characters. The counterpart of CharCNN."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from elmo.errors import ConfigError
from elmo.model.tokens import Rows, TokenEncoder, TokensConfig
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import BEGIN_SENTENCE_ID, END_SENTENCE_ID, Vocabulary


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
        return WordTable(self)

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
