"""Character ids: a token becomes 50 small integers, and back. The only module that knows their numbering.

The scheme is the published one (bilm-tf data.py, AllenNLP's ELMoCharacterMapper, both in the "+1" form): a token is its
UTF-8 bytes between a begin-word and an end-word mark, padded to the right. Id 0 is kept for positions without a token.

W words, C characters in a row (50), K = C - 2 bytes that fit (48).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

CHARACTERS_IN_ROW = 50
CHARACTER_COUNT = 262  # ids 0..261: padding, 256 bytes, five marks

FIRST_BYTE = 1  # byte b has id b + 1
BEGIN_SENTENCE = 257
END_SENTENCE = 258
BEGIN_WORD = 259
END_WORD = 260
IN_WORD_PADDING = 261

TYPED_BOUNDARIES = ("<S>", "</S>")

CharacterRows = npt.NDArray[np.int16]


def token_bytes(word: str, *, characters: int = CHARACTERS_IN_ROW) -> bytes:
    """The bytes of `word` that its row holds: cut even inside a character; lone surrogates dropped."""
    return word.encode("utf-8", "ignore")[: characters - 2]


def is_cut(word: str, *, characters: int = CHARACTERS_IN_ROW) -> bool:
    """Whether the row of `word` loses bytes."""
    return len(word.encode("utf-8", "ignore")) > characters - 2


def spell(words: Sequence[str], *, characters: int = CHARACTERS_IN_ROW) -> CharacterRows:
    """The character ids of each word: [W, C]."""
    K = characters - 2
    spelled = [token_bytes(word, characters=characters) for word in words]
    lengths = np.fromiter(map(len, spelled), dtype=np.int16, count=len(spelled))  # [W]
    table = np.frombuffer(b"".join(s.ljust(K, b"\0") for s in spelled), dtype=np.uint8)
    return rows_from_bytes(table.reshape(len(spelled), K), lengths)


def spell_as_originals(words: Sequence[str], *, characters: int = CHARACTERS_IN_ROW) -> CharacterRows:
    """As `spell`, but the words `<S>` and `</S>` are the boundary tokens.

    [AllenNLP, ELMoCharacterMapper; bilm-tf, where its vocabulary has the two words]
    """
    rows = spell(words, characters=characters)
    for boundary, row in zip(TYPED_BOUNDARIES, boundary_rows(characters=characters), strict=True):
        rows[[n for n, word in enumerate(words) if word == boundary]] = row
    return rows


def rows_from_bytes(table: npt.NDArray[np.uint8], lengths: npt.NDArray[np.integer]) -> CharacterRows:
    """Character ids [W, C] from padded bytes [W, K] and the number of bytes of each word [W]."""
    W, K = table.shape
    rows = np.full((W, K + 2), IN_WORD_PADDING, dtype=np.int16)  # [W, C]
    inside = np.arange(K) < lengths[:, None]  # [W, K]
    rows[:, 1 : K + 1][inside] = table[inside].astype(np.int16) + FIRST_BYTE
    rows[:, 0] = BEGIN_WORD
    rows[np.arange(W), lengths.astype(np.int64) + 1] = END_WORD
    return rows


def boundary_rows(*, characters: int = CHARACTERS_IN_ROW) -> CharacterRows:
    """The rows of the begin-sentence and the end-sentence token: [2, C]."""
    rows = np.full((2, characters), IN_WORD_PADDING, dtype=np.int16)
    rows[:, 0] = BEGIN_WORD
    rows[:, 1] = (BEGIN_SENTENCE, END_SENTENCE)
    rows[:, 2] = END_WORD
    return rows
