"""The sense test: vectors of a model in each layer, and static word vectors beside them (see `__main__`)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from elmo.analysis.examples import Use, read_senses
from elmo.analysis.senses import count_senses, fraction_right, vectors_of_uses
from elmo.analysis.similarity import place_of
from elmo.embed.embedder import Embedder

WINDOW = 5
Vectors = dict[str, np.ndarray]


def measure(embedder: Embedder, vectors: Vectors | None, *, name: str = "first") -> dict[str, dict[str, Any]]:
    """For each kind of vector the share of uses whose nearest neighbour has their sense, and counts by word.

    `name` is a set of `elmo.analysis.examples.SENSE_SETS`.
    """
    uses = read_senses(name)
    layers = vectors_of_uses(embedder, uses)  # [L, N, D]
    kinds = {"tokens" if n == 0 else f"LSTM {n}": rows for n, rows in enumerate(layers)}
    kinds["mean of the layers"] = layers.mean(0)
    if vectors is not None:

        def tokenize(text: str) -> list[str]:
            return embedder.model.tokenizer.tokenize(text).words

        for words, window in (("mean of the sentence", None), (f"mean within {WINDOW} places", WINDOW)):
            kinds[f"word2vec, {words}"] = context_means(uses, vectors, tokenize, window=window)
    return figures(kinds, uses)


def figures(kinds: Mapping[str, np.ndarray], uses: Sequence[Use]) -> dict[str, dict[str, Any]]:
    """Of each kind of vectors [N, D]: the share of uses that is right, and how many of each word."""
    counts = {kind: count_senses(rows, uses) for kind, rows in kinds.items()}
    return {
        kind: {"share": fraction_right(found), "words": {count.word: count.right for count in found}}
        for kind, found in counts.items()
    }


def guessing(uses: Sequence[Use]) -> float:
    """The share that is right where any other use of the word is as near as another."""
    words, senses = Counter(use.word for use in uses), Counter((use.word, use.sense) for use in uses)
    return sum((senses[use.word, use.sense] - 1) / (words[use.word] - 1) for use in uses) / len(uses)


def describe(name: str, found: Mapping[str, Mapping[str, Any]], *, words: bool = False) -> str:
    """The figures of a set, to be printed."""
    uses = read_senses(name)
    lines = [f"{name} ({len(uses)} uses): the sense of the nearest neighbour is right (guessing {guessing(uses):.1%}):"]
    lines += [f"  {kind:32s} {each['share']:6.1%}" for kind, each in found.items()]
    if words:
        counts = Counter(use.word for use in uses)
        lines.append("\n  word       uses" + "".join(f"{kind[:20]:>22s}" for kind in found))
        for word, count in counts.items():
            lines.append(f"  {word:10s} {count:4d}" + "".join(f"{each['words'][word]:>22d}" for each in found.values()))
    return "\n".join(lines)


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
