"""A model's self-test: the vectors of one fixed sentence, kept with the model and computed again by `elmo verify`."""

import math
from typing import Any

import numpy as np

from elmo.weights.loaded import LoadedModel

SENTENCE = ("We", "rowed", "to", "the", "far", "bank", ".")
WORD = 5  # the word whose vectors are kept
KEPT = 8  # numbers from each end of a vector: the forward and the backward half
TOLERANCE = 1e-4  # of the largest number; other machines and versions differ in the last digits, damage does not


def run_self_test(model: LoadedModel) -> dict[str, Any]:
    """The expected values, as they stand in config.json."""
    network = model.arrays.plain()
    begin, end = model.boundary_rows()
    rows = np.concatenate([begin[None], model.spell(SENTENCE), end[None]])
    x = network.tokens(rows)[None]  # [1, T, D]
    layers, _ = network(x, np.array([len(rows)]), network.settled_state(1))
    vectors = layers[:, 0, 1 + WORD]  # [L + 1, R * D]
    kept = np.concatenate([vectors[:, :KEPT], vectors[:, -KEPT:]], axis=1)
    return {"sentence": list(SENTENCE), "word": WORD, "layers": [[round(v, 6) for v in row] for row in kept.tolist()]}


def self_test_difference(expected: Any, found: dict[str, Any]) -> float:
    """The largest difference relative to the largest number; infinite where the two cannot be compared."""
    try:
        wanted = np.array(expected["layers"], dtype=np.float64)
        values = np.array(found["layers"], dtype=np.float64)
        if expected["sentence"] != found["sentence"] or expected["word"] != found["word"]:
            return math.inf
        if wanted.shape != values.shape:
            return math.inf
    except (KeyError, TypeError, ValueError):
        return math.inf
    return float(np.abs(wanted - values).max() / max(np.abs(wanted).max(), 1e-3))
