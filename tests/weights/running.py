"""Running a loaded model over sentences, the plain way, for comparison with recorded outputs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from elmo.model.state import State
from elmo.weights.loaded import LoadedModel

Batch = Sequence[Sequence[str]]


@torch.no_grad()
def token_vectors(model: LoadedModel, sentence: Sequence[str]) -> Tensor:
    """The vectors of a sentence between its boundaries: [T + 2, D]."""
    boundaries = model.boundary_rows()
    rows = np.concatenate([boundaries[:1], model.spell(sentence), boundaries[1:]])
    return model.bilm.tokens(torch.from_numpy(rows))


@torch.no_grad()
def run_batch(model: LoadedModel, batch: Batch, state: State) -> tuple[list[Tensor], State]:
    """Layers [L + 1, T, R * D] of each sentence without its boundaries, and the state after."""
    vectors = [token_vectors(model, sentence) for sentence in batch]
    lengths = torch.tensor([len(v) for v in vectors])
    x = torch.nn.utils.rnn.pad_sequence(vectors, batch_first=True)
    layers, state = model.bilm(x, lengths, state)
    return [layers[:, n, 1 : length - 1] for n, length in enumerate(lengths.tolist())], state


def run_carried(model: LoadedModel, batches: Sequence[Batch]) -> list[list[Tensor]]:
    """Consecutive batches of one size with the state carried from one to the next, as the originals do."""
    state = model.bilm.zero_state(len(batches[0]))
    results = []
    for batch in batches:
        layers, state = run_batch(model, batch, state)
        results.append(layers)
    return results
