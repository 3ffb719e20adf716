"""Tokens to character ids, as AllenNLP does it: `batch_to_ids`, and the mapper for tokens with ids of their own."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from elmo.compat.rows import character_rows, rows_of_batch
from elmo.errors import ConfigError, needing_torch
from elmo.text.chars import (
    BEGIN_SENTENCE,
    BEGIN_WORD,
    CHARACTERS_IN_ROW,
    END_SENTENCE,
    END_WORD,
    FIRST_BYTE,
    IN_WORD_PADDING,
    boundary_rows,
)

if TYPE_CHECKING:
    from torch import Tensor


def batch_to_ids(batch: Sequence[Sequence[str]]) -> "Tensor":
    """Sentences of tokens to character ids: LongTensor [N, T, 50], zero where there is no token.

    Without boundary tokens: the model adds them. Typed `<S>` and `</S>` are boundary tokens all the same.
    """
    return ids_of_batch(batch, characters=CHARACTERS_IN_ROW)


def ids_of_batch(batch: Sequence[Sequence[str]], *, characters: int) -> "Tensor":
    """As `batch_to_ids`, for models whose rows are shorter or longer: [N, T, C]."""
    with needing_torch("batch_to_ids"):
        import torch

    return torch.from_numpy(rows_of_batch(batch, characters=characters))


class ELMoCharacterMapper:
    """A token to its 50 character ids; `tokens_to_add` gives some tokens a character id of their own.

    As in AllenNLP the ids in `tokens_to_add` and in the constants are those of training, 1 less than what comes out.
    """

    max_word_length = CHARACTERS_IN_ROW
    beginning_of_sentence_character = BEGIN_SENTENCE - FIRST_BYTE
    end_of_sentence_character = END_SENTENCE - FIRST_BYTE
    beginning_of_word_character = BEGIN_WORD - FIRST_BYTE
    end_of_word_character = END_WORD - FIRST_BYTE
    padding_character = IN_WORD_PADDING - FIRST_BYTE
    bos_token = "<S>"
    eos_token = "</S>"

    def __init__(self, tokens_to_add: Mapping[str, int] | None = None) -> None:
        self.tokens_to_add = dict(tokens_to_add or {})
        for token, character in self.tokens_to_add.items():
            if not 0 <= character <= self.padding_character:
                raise ConfigError(
                    f"tokens_to_add gives {token!r} the id {character}; it must be from 0 to {self.padding_character}"
                )

    def convert_word_to_char_ids(self, word: str) -> list[int]:
        """The row of `word`: 50 ids."""
        if word in self.tokens_to_add:
            row = boundary_rows()[0]
            row[1] = self.tokens_to_add[word] + FIRST_BYTE
        else:
            row = character_rows([word], characters=CHARACTERS_IN_ROW)[0]
        ids: list[int] = row.tolist()
        return ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ELMoCharacterMapper):
            return NotImplemented
        return self.tokens_to_add == other.tokens_to_add

    __hash__ = None  # type: ignore[assignment]
