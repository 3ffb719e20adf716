"""Whether vectors tell the senses of a word apart: is a use's nearest other use one of the same sense?

N uses of a word, L layers, D dimensions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elmo.analysis.examples import Use
from elmo.analysis.similarity import place_of
from elmo.embed.embedder import Embedder

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class SenseCount:
    """Of one word in one layer: how many uses have their nearest neighbour in their own sense."""

    word: str
    right: int
    uses: int


def nearest_is_of_same_sense(vectors: Floats, senses: Sequence[str]) -> list[bool]:
    """For each of N vectors [N, D], whether the most similar of the others (cosine) has the same sense."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(norms, 1e-12)
    similar = unit @ unit.T  # [N, N]
    np.fill_diagonal(similar, -np.inf)
    return [senses[n] == senses[other] for n, other in enumerate(similar.argmax(axis=1).tolist())]


def vectors_of_uses(embedder: Embedder, uses: Sequence[Use]) -> Floats:
    """The vectors of each use's word in each layer: [L, N, D]."""
    layers, tokens = embedder.encode([use.sentence for use in uses], layers="all", return_tokens=True)
    places = [place_of(use.word, found.words) for use, found in zip(uses, tokens, strict=True)]
    return np.stack([layer[:, place] for layer, place in zip(layers, places, strict=True)], axis=1)


def count_senses(vectors: Floats, uses: Sequence[Use]) -> list[SenseCount]:
    """Leave one out over the uses of each word, in order; `vectors` [N, D] are of one layer, or any others."""
    counts = []
    for word in dict.fromkeys(use.word for use in uses):
        own = [n for n, use in enumerate(uses) if use.word == word]
        hits = nearest_is_of_same_sense(vectors[own], [uses[n].sense for n in own])
        counts.append(SenseCount(word=word, right=sum(hits), uses=len(own)))
    return counts


def fraction_right(counts: Sequence[SenseCount]) -> float:
    """Over all words."""
    return sum(count.right for count in counts) / max(1, sum(count.uses for count in counts))
