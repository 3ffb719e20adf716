"""Rows of character ids back to words: what a tokenizer made of them is looked up again, so that words are remembered.

The biLM's module keeps the vectors of words; here their rows lead back to them.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from elmo.text.chars import FIRST_BYTE

Rows = npt.NDArray[np.int16]
MOST_WORDS = 1 << 18
LAST_BYTE = FIRST_BYTE + 255
# Ends of a character that a row has cut: after each of them some character is whole again.
_TAILS = tuple(first + b"\x80" * more for more in range(3) for first in (b"\x80", b"\xa0", b"\x90"))


class RowWords:
    """Words by their rows, worked out on a miss and bounded in number. `spell` is what makes rows of words."""

    def __init__(self, spell: Callable[[Sequence[str]], npt.NDArray[np.integer]]) -> None:
        self._spell = spell
        self._words: dict[bytes, str] = {}

    def look_up(self, rows: Rows) -> list[str]:
        """A word for each row [W, C]: one that is spelled so. ValueError for a row that no word has."""
        known, words = self._words, []
        if len(known) > MOST_WORDS:
            known.clear()
        for row in np.ascontiguousarray(rows):
            key = row.tobytes()
            word = known.get(key)
            if word is None:
                word = known[key] = self._find(row)
            words.append(word)
        return words

    def _find(self, row: Rows) -> str:
        spelled = row_bytes(row)
        for tail in (b"", *_TAILS):
            try:
                word = (spelled + tail).decode("utf-8")
            except UnicodeDecodeError:
                continue
            if np.array_equal(self._spell([word])[0], row):
                return word
        raise ValueError(
            f"input_ids hold the row {row[:8].tolist()}..., which no word has; make them with ElmoTokenizer"
        )


def row_bytes(row: Rows) -> bytes:
    """The bytes of a word, from its row."""
    return bytes(int(n) - FIRST_BYTE for n in row if FIRST_BYTE <= n <= LAST_BYTE)
