"""The sense test: vectors of a model in each layer, and static word vectors beside them (see `__main__`)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from elmo.analysis.examples import Use, read_senses
from elmo.analysis.senses import SenseCount, count_senses, fraction_right, vectors_of_uses
from elmo.analysis.similarity import place_of
from elmo.embed.embedder import Embedder

WINDOW = 5
Vectors = dict[str, np.ndarray]


def measure(embedder: Embedder, vectors: Vectors | None) -> dict[str, dict[str, Any]]:
    """For each kind of vector the share of uses whose nearest neighbour has their sense, and counts by word."""
    uses = read_senses()
    results: dict[str, list[SenseCount]] = {}
    layers = vectors_of_uses(embedder, uses)  # [L, N, D]
    for layer, rows in enumerate(layers):
        results["tokens" if layer == 0 else f"LSTM {layer}"] = count_senses(rows, uses)
    results["mean of the layers"] = count_senses(layers.mean(0), uses)
    if vectors is not None:

        def tokenize(text: str) -> list[str]:
            return embedder.model.tokenizer.tokenize(text).words

        for name, window in (("mean of the sentence", None), (f"mean within {WINDOW} places", WINDOW)):
            results[f"word2vec, {name}"] = count_senses(context_means(uses, vectors, tokenize, window=window), uses)
    return {
        name: {"share": fraction_right(counts), "words": {count.word: count.right for count in counts}}
        for name, counts in results.items()
    }


def context_means(
    uses: Sequence[Use], vectors: Vectors, tokenize: Callable[[str], list[str]], *, window: int | None
) -> np.ndarray:
    """For each use the mean of the vectors of the words around it: [N, D]."""
    size = len(next(iter(vectors.values())))
    rows = []
    for use in uses:
        tokens = tokenize(use.sentence)
        place = place_of(use.word, tokens)
        near = [
            vectors[token]
            for n, token in enumerate(tokens)
            if n != place and (window is None or abs(n - place) <= window) and token.isalnum() and token in vectors
        ]
        rows.append(np.mean(near, axis=0) if near else np.zeros(size))
    return np.stack(rows)
