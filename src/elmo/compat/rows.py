"""Sentences as padded rows of ids, and rows of ids as token vectors: what both originals' inputs have in common.

N sentences, T positions, C characters in a row, W words, D size of a token vector.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from elmo.embed.wordcache import WordCache
from elmo.errors import ConfigError, InputError
from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.characters import CharCNNConfig
from elmo.text.chars import CharacterRows, spell_as_originals


def characters_of(bilm: BiLM) -> int:
    """How many character ids stand in a row that this biLM reads (C)."""
    return character_config(bilm.config).characters


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


def lengths_of(mask: Tensor) -> Tensor:
    """How many tokens each row of a mask [N, T] has: [N]. Padding in front of a token is refused.

    The originals cut such a sentence short and go on without a word.
    """
    if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        row = int((mask[:, 1:] & ~mask[:, :-1]).any(1).nonzero()[0])
        raise InputError(f"row {row} of the ids has a token behind a position of zeros; padding belongs at the end")
    return mask.sum(1)


def token_vectors(bilm: BiLM, rows: Tensor) -> Tensor:
    """Rows of ids [W, C] -> token vectors [W, D], each distinct row encoded once."""
    distinct, index = torch.unique(rows, dim=0, return_inverse=True)
    vectors = bilm.tokens(distinct)
    assert isinstance(vectors, Tensor)
    return vectors[index]


class RowVectors:
    """`token_vectors` that remembers: while a biLM does not learn, a row of characters is encoded once.

    Nothing goes stale: when a weight is not the one it was, all is forgotten.
    """

    def __init__(self, bilm: BiLM) -> None:
        self._bilm = bilm
        self._characters = characters_of(bilm)
        self._cache = WordCache(self._encode, size=bilm.config.tokens.output_dim)
        self._stamp: object = None

    def __call__(self, rows: Tensor) -> Tensor:
        """Rows of ids [W, C] -> token vectors [W, D]."""
        parameters = list(self._bilm.tokens.parameters())
        if any(parameter.requires_grad for parameter in parameters):
            return token_vectors(self._bilm, rows)
        stamp = [(p.data_ptr(), 0 if p.is_inference() else p._version) for p in parameters]
        if stamp != self._stamp:
            self._cache.clear()
            self._stamp = stamp
        # The table outlives this call, so it must not be bound to the caller's inference mode.
        with torch.inference_mode(False), torch.no_grad():
            vectors: Tensor = self._cache.look_up(self._keys(rows))
            return vectors

    def _keys(self, rows: Tensor) -> list[str]:
        """Rows as strings: one code point an id."""
        points = np.ascontiguousarray(rows.cpu().numpy().astype(np.uint32))  # [W, C]
        keys: list[str] = points.view(f"U{self._characters}")[:, 0].tolist()
        return keys

    def _encode(self, keys: Sequence[str]) -> Tensor:
        points = np.array(keys, dtype=f"U{self._characters}").view(np.uint32).reshape(-1, self._characters)
        device = self._bilm.settled_h.device
        vectors = self._bilm.tokens(torch.from_numpy(points.astype(np.int64)).to(device))
        assert isinstance(vectors, Tensor)
        return vectors

    def __getstate__(self) -> BiLM:
        return self._bilm

    def __setstate__(self, bilm: BiLM) -> None:
        self.__init__(bilm)  # type: ignore[misc]
