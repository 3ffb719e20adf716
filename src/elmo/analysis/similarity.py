"""How alike two words are in their sentences."""

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elmo.embed.embedder import Embedder
from elmo.errors import InputError

logger = logging.getLogger(__name__)


def compare_word(embedder: Embedder, first: tuple[str, str], second: tuple[str, str]) -> list[float]:
    """The cosine of two (word, raw sentence) pairs in each layer; the first occurrence of each word counts.

    A word that occurs again is told in a warning.
    """
    sentences = [first[1], second[1]]
    layers, tokens = embedder.encode(sentences, layers="all", return_tokens=True)  # each [L, T, D]
    places = [choose_place(word, found.words) for word, found in zip((first[0], second[0]), tokens, strict=True)]
    a, b = (layer[:, place] for layer, place in zip(layers, places, strict=True))  # [L, D] each
    norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return [float(x) for x in (a * b).sum(-1) / np.maximum(norms, 1e-12)]


def cosines(
    first: npt.NDArray[np.floating], second: npt.NDArray[np.floating], *, mean: npt.NDArray[np.floating] | float = 0.0
) -> npt.NDArray[np.floating]:
    """The cosine of each vector [L, N, D] with each of others [L, M, D], layer by layer: [L, N, M].

    `mean` [L, 1, D] is subtracted before: what the vectors of all tokens have in common, whatever they mean.
    """
    found: npt.NDArray[np.floating] = unit(first - mean) @ unit(second - mean).swapaxes(-1, -2)
    np.clip(found, -1.0, 1.0, out=found)
    return found


def unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Vectors of length 1; zeros stay zeros."""
    found: npt.NDArray[np.floating] = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return found


def place_of(word: str, tokens: Sequence[str], *, occurrence: int = 1, ignore_case: bool = False) -> int:
    """The place of a word among tokens: its first one, or another occurrence, counted from 1."""
    places = _places(word, tokens, ignore_case=ignore_case)
    if not places:
        other = _places(word, tokens, ignore_case=True)
        hint = f"; {tokens[other[0]]!r} is, which counts only where case is ignored" if other else ""
        raise InputError(f"{word!r} is not among the tokens {' '.join(tokens)!r}{hint}")
    if not 1 <= occurrence <= len(places):
        raise InputError(
            f"{word!r} occurs {len(places)} time(s) among the tokens {' '.join(tokens)!r}; there is no occurrence "
            f"{occurrence}"
        )
    return places[occurrence - 1]


def choose_place(word: str, tokens: Sequence[str], *, occurrence: int | None = None, ignore_case: bool = False) -> int:
    """The same for a person who asks: where several occurrences are there to choose from, say which was taken."""
    place = place_of(word, tokens, occurrence=occurrence or 1, ignore_case=ignore_case)
    count = len(_places(word, tokens, ignore_case=ignore_case))
    if occurrence is None and count > 1:
        logger.warning("%r occurs %d times in %r; the first is taken", word, count, " ".join(tokens))
    return place


def _places(word: str, tokens: Sequence[str], *, ignore_case: bool) -> list[int]:
    if not ignore_case:
        return [n for n, token in enumerate(tokens) if token == word]
    return [n for n, token in enumerate(tokens) if token.casefold() == word.casefold()]
