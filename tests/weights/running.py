"""Running a loaded model over sentences, by all that can compute it, for comparison with recorded outputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.arrays import host
from elmo.ops.cpu.kernels import kernels_run
from elmo.ops.cpu.making import Making
from elmo.weights.loaded import LoadedModel

Batch = Sequence[Sequence[str]]

compiled = pytest.param("compiled", marks=pytest.mark.skipif(not kernels_run(), reason="no C++ compiler"))
by_all = pytest.mark.parametrize("how", ["torch", compiled, "plain"])


class OnArrays:
    """A CPU's network, called with tensors as torch's is."""

    def __init__(self, model: LoadedModel, *, kernels: bool) -> None:
        self._packed = PackedBiLM(model.config, model.tensors, Making(kernels=kernels))

    def tokens(self, rows: Tensor) -> Tensor:
        return torch.from_numpy(self._packed.tokens(rows.numpy()))

    def __call__(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        layers, after = self._packed(x.numpy(), lengths.numpy(), State(*map(host, state)))
        return torch.from_numpy(layers), State(*map(torch.from_numpy, after))

    def zero_state(self, rows: int) -> State:
        return State(*map(torch.from_numpy, self._packed.zero_state(rows)))


def network(model: LoadedModel, how: str) -> Any:
    """What computes a model's vectors: torch, the compiled kernels, or plain NumPy."""
    return model.bilm if how == "torch" else OnArrays(model, kernels=how == "compiled")


@torch.no_grad()
def token_vectors(model: LoadedModel, sentence: Sequence[str], bilm: Any = None) -> Tensor:
    """The vectors of a sentence between its boundaries: [T + 2, D]."""
    boundaries = model.boundary_rows()
    rows = np.concatenate([boundaries[:1], model.spell(sentence), boundaries[1:]])
    return (bilm or model.bilm).tokens(torch.from_numpy(rows))


@torch.no_grad()
def run_batch(model: LoadedModel, batch: Batch, state: State, bilm: Any = None) -> tuple[list[Tensor], State]:
    """Layers [L + 1, T, R * D] of each sentence without its boundaries, and the state after."""
    vectors = [token_vectors(model, sentence, bilm) for sentence in batch]
    lengths = torch.tensor([len(v) for v in vectors])
    x = torch.nn.utils.rnn.pad_sequence(vectors, batch_first=True)
    layers, state = (bilm or model.bilm)(x, lengths, state)
    return [layers[:, n, 1 : length - 1] for n, length in enumerate(lengths.tolist())], state


def run_carried(model: LoadedModel, batches: Sequence[Batch], how: str = "torch") -> list[list[Tensor]]:
    """Consecutive batches of one size with the state carried from one to the next, as the originals do."""
    bilm = network(model, how)
    state = bilm.zero_state(len(batches[0]))
    results = []
    for batch in batches:
        layers, state = run_batch(model, batch, state, bilm)
        results.append(layers)
    return results
