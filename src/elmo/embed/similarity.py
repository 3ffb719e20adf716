"""How alike two words are in their sentences."""

from collections.abc import Sequence

import numpy as np

from elmo.embed.embedder import Embedder
from elmo.errors import InputError


def compare_word(embedder: Embedder, first: tuple[str, str], second: tuple[str, str]) -> list[float]:
    """The cosine of two (word, raw sentence) pairs in each layer; the first occurrence of each word counts."""
    sentences = [first[1], second[1]]
    layers, tokens = embedder.encode(sentences, layers="all", return_tokens=True)  # each [L, T, D]
    places = [place_of(word, found.words) for word, found in zip((first[0], second[0]), tokens, strict=True)]
    a, b = (layer[:, place] for layer, place in zip(layers, places, strict=True))  # [L, D] each
    norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return [float(x) for x in (a * b).sum(-1) / np.maximum(norms, 1e-12)]


def place_of(word: str, tokens: Sequence[str]) -> int:
    """The first place of a word among tokens."""
    if word not in tokens:
        raise InputError(f"{word!r} is not among the tokens {' '.join(tokens)!r}")
    return tokens.index(word)
