"""What every kind of token encoder must know of itself: the contract of the configurations. No torch.

A kind is a configuration, which knows sizes and how words are written as rows of ids, and the network that it builds.
Whoever uses one tells it what is wanted and does not ask which it is. W words, C ids in a row, D output.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.making import Encode, Making
from elmo.text.codepoints import Dictionaries
from elmo.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from elmo.model.tokens import TokenEncoder

Shape = tuple[int, ...]
Tensors = Mapping[str, npt.NDArray[Any]]  # weights by name, without the name of the part that has them
Rows = npt.NDArray[np.integer[Any]]


class Spelling(Protocol):
    """How words become the rows of ids that an encoder reads."""

    def spell(self, words: Sequence[str]) -> Rows:
        """The row of each word: [W, C]."""

    def spell_as_originals(self, words: Sequence[str]) -> Rows:
        """The same, where the originals take the words `<S>` and `</S>` of a text for the boundary tokens."""

    def boundary_rows(self) -> Rows:
        """The rows of the begin-sentence and the end-sentence token: [2, C]."""

    def cut_words(self, words: Iterable[str]) -> list[str]:
        """Those that are longer than a row holds, so that two of them may get one vector."""


class TokensConfig(ABC):
    """The configuration of a token encoder."""

    kind: str
    output_dim: int
    reads_words: ClassVar[bool] = False  # ids of its vocabulary, so that it has no vector for any other word

    @property
    @abstractmethod
    def row_length(self) -> int:
        """Ids in a row (C)."""

    @property
    @abstractmethod
    def highest_id(self) -> int:
        """The highest id that may stand in a row."""

    @property
    def dictionary_sizes(self) -> tuple[int, int] | None:
        """Words and characters that its dictionaries number (0: without that dictionary); None if it has none."""
        return None

    @abstractmethod
    def build(self) -> "TokenEncoder":
        """The network for training and GPUs, its parameters not initialized. Needs torch."""

    @abstractmethod
    def shapes(self) -> dict[str, Shape]:
        """The shape of each weight by name."""

    @abstractmethod
    def frozen(self, weights: Tensors, making: Making) -> Encode:
        """The network for a CPU, made of its weights."""

    @abstractmethod
    def spelling(self, vocabulary: Vocabulary | None, dictionaries: Dictionaries | None) -> Spelling:
        """How words are written for it. ConfigError where what it needs is missing or does not fit."""

    @abstractmethod
    def type_rows(self, spellings: npt.NDArray[np.uint8], lengths: Rows, ids: npt.NDArray[np.int64]) -> Rows:
        """The rows of a corpus store's types [Y + 1, C]: begin-sentence in place of the first, end-sentence at the end.

        From the bytes of each type [Y, K], their number [Y] and its id in the vocabulary [Y].
        """

    def training_numbers(self, words: int, *, columns: int) -> int:
        """About how many numbers the backward pass keeps for so many words, of whose rows `columns` are computed."""
        return words * self.output_dim

    def require_vocabulary(self, words: int) -> None:
        """ConfigError unless it can be used with a vocabulary of so many words."""
        return

    @abstractmethod
    def facts(self) -> dict[str, str | int]:
        """Its sizes by name, to be printed."""


def filters_text(filters: Iterable[tuple[int, int]]) -> str:
    """Widths and counts, to be printed."""
    return " ".join(f"{width}x{count}" for width, count in filters) or "none"
