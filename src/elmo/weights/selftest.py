"""A model's self-test: the vectors of one fixed sentence, kept with the model and computed again by `elmo verify`."""

import math
from typing import Any

import torch

from elmo.weights.loaded import LoadedModel

SENTENCE = ("We", "rowed", "to", "the", "far", "bank", ".")
WORD = 5  # the word whose vectors are kept
KEPT = 8  # numbers from each end of a vector: the forward and the backward half
TOLERANCE = 1e-4  # of the largest number; other machines and versions differ in the last digits, damage does not


@torch.no_grad()
def run_self_test(model: LoadedModel) -> dict[str, Any]:
    """The expected values, as they stand in config.json."""
    rows = torch.from_numpy(model.spell(SENTENCE)).to(model.bilm.settled_h.device)
    boundaries = torch.from_numpy(model.boundary_rows()).to(rows.device)
    x = model.bilm.tokens(torch.cat([boundaries[:1], rows, boundaries[1:]]))[None]  # [1, T, D]
    layers, _ = model.bilm(x, torch.tensor([x.shape[1]], device=x.device), model.bilm.settled_state(1))
    vectors = layers[:, 0, 1 + WORD].float().cpu()  # [L + 1, R * D]
    kept = torch.cat([vectors[:, :KEPT], vectors[:, -KEPT:]], dim=1)
    return {"sentence": list(SENTENCE), "word": WORD, "layers": [[round(v, 6) for v in row.tolist()] for row in kept]}


def self_test_difference(expected: Any, found: dict[str, Any]) -> float:
    """The largest difference relative to the largest number; infinite where the two cannot be compared."""
    try:
        wanted = torch.tensor(expected["layers"], dtype=torch.float64)
        values = torch.tensor(found["layers"], dtype=torch.float64)
        if expected["sentence"] != found["sentence"] or expected["word"] != found["word"]:
            return math.inf
        if wanted.shape != values.shape:
            return math.inf
    except (KeyError, TypeError, ValueError):
        return math.inf
    return float((wanted - values).abs().max() / wanted.abs().max().clamp(min=1e-3))
