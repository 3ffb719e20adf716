"""Sentences as padded rows of ids, and rows of ids as token vectors: what both originals' inputs have in common.

N sentences, T positions, C characters in a row, W words, D size of a token vector.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from elmo.embed.batches import BOUNDARIES
from elmo.embed.wordcache import WordCache
from elmo.errors import ConfigError, InputError
from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.ops.arrays import Array, host
from elmo.text.chars import CharacterRows, boundary_rows, spell_as_originals


def character_config(config: BiLMConfig) -> CharCNNConfig:
    """The token encoder's configuration of a model that reads character ids; others are refused."""
    tokens = config.tokens
    if not isinstance(tokens, CharCNNConfig):
        raise ConfigError(f"this model reads {tokens.kind}, but one that reads character ids is wanted; use elmo.load")
    return tokens


def character_rows(words: Sequence[str], *, characters: int) -> CharacterRows:
    """The character ids of each word [W, C]; the words `<S>` and `</S>` are the boundary tokens, not spelled out."""
    for n, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"token {n} of the batch is {word!r} ({type(word).__name__}); a string is wanted")
    return spell_as_originals(words, characters=characters)


def padded(rows: npt.NDArray[np.integer], lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Rows [sum of lengths, ...] of sentences one behind the other -> [N, T, ...], zero where there is no token."""
    T = max(lengths, default=0)
    result = np.zeros((len(lengths), T, *rows.shape[1:]), dtype=np.int64)
    result[np.arange(T) < np.array(lengths, dtype=np.int64)[:, None]] = rows
    return result


def rows_of_batch(
    batch: Sequence[Sequence[str]], *, characters: int, boundaries: bool = False
) -> npt.NDArray[np.int64]:
    """Sentences of tokens -> [N, T, C], or [N, T + 2, C] with their `boundaries`; zero where there is no token."""
    sentences = [list(sentence) for sentence in batch]
    lengths = [len(sentence) for sentence in sentences]
    rows = padded(character_rows([word for sentence in sentences for word in sentence], characters=characters), lengths)
    if not boundaries:
        return rows
    bounded = np.zeros((len(rows), rows.shape[1] + BOUNDARIES, characters), dtype=np.int64)
    bounded[:, 0], end = boundary_rows(characters=characters)
    bounded[:, 1:-1] = rows
    bounded[np.arange(len(rows)), np.array(lengths, dtype=np.int64) + 1] = end
    return bounded


def lengths_of(mask: Array) -> Array:
    """How many tokens each row of a mask [N, T] has: [N]. Padding in front of a token is refused.

    The originals cut such a sentence short and go on without a word.
    """
    behind = (mask[:, 1:] & ~mask[:, :-1]).any(1)  # [N]
    if bool(behind.any()):
        row = int(np.flatnonzero(host(behind))[0])
        raise InputError(f"row {row} of the ids has a token behind a position of zeros; padding belongs at the end")
    return mask.sum(1)


class RowCache:
    """Token vectors of rows of ids, each row encoded once."""

    def __init__(self, encode: Callable[[npt.NDArray[np.int64]], Array], *, config: BiLMConfig) -> None:
        self._encode = encode
        self._characters = character_config(config).characters
        self._cache = WordCache(self._encode_keys, size=config.tokens.output_dim)

    def __call__(self, rows: npt.NDArray[np.integer]) -> Array:
        """Rows of ids [W, C] -> token vectors [W, D]."""
        points = np.ascontiguousarray(rows.astype(np.uint32))  # a row as a string: one code point an id
        return self._cache.look_up(points.view(f"U{self._characters}")[:, 0].tolist())

    def clear(self) -> None:
        """Forget every row."""
        self._cache.clear()

    def __len__(self) -> int:
        return len(self._cache)

    def _encode_keys(self, keys: Sequence[str]) -> Array:
        points = np.array(keys, dtype=f"U{self._characters}").view(np.uint32).reshape(-1, self._characters)
        return self._encode(points.astype(np.int64))
