"""ScalarMix: `gamma * sum_j softmax(w)_j h_j` over the layers, with the layer norms of the originals and one better.

L layers, N sentences, T positions, D size of a vector.
"""

from typing import Literal

import torch
from torch import Tensor, nn

LayerNorm = Literal[False, "batch", "token"]
EPSILON = 1e-12  # [bilm-tf elmo.py, _do_ln; AllenNLP 0.9 ScalarMix]


class ScalarMix(nn.Module):
    """A learned weighted average of layers.

    `layer_norm="batch"` is the originals': one mean and variance over every unmasked element of the batch, so the
    result of a sentence depends on its batch mates. `"token"` normalizes each vector by itself and does not.
    """

    def __init__(self, layers: int, *, layer_norm: LayerNorm = False) -> None:
        super().__init__()
        if layer_norm not in (False, "batch", "token"):
            raise ValueError(f"layer_norm is {layer_norm!r}; it must be False, 'batch' or 'token'")
        self.layer_norm = layer_norm
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """layers: [L, N, T, D], mask: [N, T] (true where there is a token) -> [N, T, D]."""
        if self.layer_norm == "batch":
            layers = torch.stack([normalize_over_batch(layer, mask) for layer in layers])
        elif self.layer_norm == "token":
            layers = normalize_each_token(layers)
        fractions = torch.softmax(self.weights, dim=0)
        return self.gamma * torch.einsum("l,lntd->ntd", fractions, layers)

    def penalty(self) -> Tensor:
        """`||w||^2` of the weights before their softmax: it draws the mix towards the plain average."""
        return self.weights.square().sum()


def normalize_over_batch(layer: Tensor, mask: Tensor) -> Tensor:
    """layer: [N, T, D] less the mean, over the standard deviation, of all its unmasked elements together."""
    alive = mask[:, :, None].to(layer.dtype)  # [N, T, 1]
    count = alive.sum() * layer.shape[-1]
    mean = (layer * alive).sum() / count
    variance = ((layer - mean) * alive).square().sum() / count
    return (layer - mean) / torch.sqrt(variance + EPSILON)


def normalize_each_token(layers: Tensor) -> Tensor:
    """Each vector [.., D] less its own mean, over its own standard deviation."""
    centred = layers - layers.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + EPSILON)
