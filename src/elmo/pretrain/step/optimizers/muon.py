"""Muon: a step of a weight matrix is its momentum made orthogonal; all other parameters go by Adam.

Orthogonal: the same singular vectors, and all singular values about 1, so that every direction is learned at the same
pace. [Jordan et al. 2024, kellerjordan.github.io/posts/muon; scaled as in Liu et al. 2025, arXiv 2502.16982]
G matrices of m x n numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.ops.momentum import nesterov
from elmo.pretrain.step.optimizers.adam import Adam, AdamConfig
from elmo.pretrain.step.optimizers.optimizer import check_not_negative, check_positive, gradient_of

# Of the polynomial that is applied to the singular values five times. It does not converge to 1, but brings even small
# ones near it, between 0.7 and 1.2. [Jordan et al. 2024]
A, B, C = 3.4445, -4.7750, 2.0315
ROUNDS = 5
TINY = 1e-7
GATES = {"weight_x": 4, "weight_h": 4}  # hold the matrices of four gates beside each other


@dataclass(frozen=True, kw_only=True)
class MuonConfig:
    """Muon for the weight matrices of LSTM and token encoder, Adam for tables, softmax, filters and biases.

    `rate`: None is one for the size of the model (`pretrain.plan`). `matrix_scale`: the root mean square of a matrix's
    step, as a share of the rate; of Adam's steps it is 0.2 to 0.4. `weight_decay` is of the weight matrices alone: a
    softmax that decays drives the outputs of the LSTM, which must make up for it, into their clip.
    """

    kind: Literal["muon"] = "muon"
    rate: float | None = None
    matrix_scale: float = 0.2
    momentum: float = 0.95
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-6
    weight_decay: float = 0.1

    def __post_init__(self) -> None:
        check_positive(self, "matrix_scale")
        if not 0 <= self.momentum < 1:
            raise ConfigError(f"optimizer.momentum is {self.momentum}; it must be 0 or more and below 1")
        check_not_negative(self, "weight_decay")
        self.adam()

    def adam(self) -> AdamConfig:
        """For the parameters that are no weight matrices, which do not decay; refuses what Adam refuses."""
        return AdamConfig(rate=self.rate, beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon)


class Muon:
    """Momentum of Nesterov's kind, made orthogonal. Matrices of one shape go through the products together."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: MuonConfig, *, bf16: bool) -> None:
        self._config, self._bf16 = config, bf16
        self._matrices = {name: p for name, p in parameters.items() if is_weight_matrix(name)}
        self._momenta = {name: torch.zeros_like(p, requires_grad=False) for name, p in self._matrices.items()}
        self._rest = Adam({n: p for n, p in parameters.items() if n not in self._matrices}, config.adam())
        self._groups: dict[tuple[int, int], list[str]] = {}
        for name, p in self._matrices.items():
            m, n = matrices_of(name, p).shape[-2:]
            self._groups.setdefault((min(m, n), max(m, n)), []).append(name)

    @torch.no_grad()
    def update(self, learning_rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        self._rest.update(learning_rate, bad, factor)
        if not self._matrices:
            return
        rate = torch.where(bad.bool(), 0.0, learning_rate)
        if factor is None:
            factor = torch.ones_like(bad, dtype=torch.float32)
        directions = {
            name: nesterov(
                gradient_of(p),
                self._momenta[name],
                beta=self._config.momentum,
                factor=factor,
                bad=bad,
                dtype=torch.bfloat16 if self._bf16 else p.dtype,
            )
            for name, p in self._matrices.items()
        }
        if self._config.weight_decay:
            torch._foreach_mul_(list[Tensor](self._matrices.values()), 1 - rate * self._config.weight_decay)
        for (_, long), names in self._groups.items():
            stacked = [_lying(matrices_of(name, directions[name])).flatten(0, -3) for name in names]  # [G, m, n]
            size = rate * (self._config.matrix_scale * math.sqrt(long))  # orthogonal: 1 / sqrt(n), root mean square
            steps = orthogonal(torch.cat(stacked)).mul_(size)
            for name, step in zip(names, steps.split([len(part) for part in stacked]), strict=True):
                own = _lying(matrices_of(name, self._matrices[name]))
                own.sub_(step.view(own.shape))

    def tensors(self) -> dict[str, Tensor]:
        return {**{f"momentum.{name}": tensor for name, tensor in self._momenta.items()}, **self._rest.tensors()}


def is_weight_matrix(name: str) -> bool:
    """Whether a parameter maps one hidden layer to another. Tables of characters, words and outputs do not."""
    return name.rpartition(".")[2].startswith("weight_")


def matrices_of(name: str, tensor: Tensor) -> Tensor:
    """A view of a parameter [.., m, gates * n] as the matrices [.., gates, m, n] in it."""
    gates = GATES.get(name.rpartition(".")[2], 1)
    found: Tensor = tensor.unflatten(-1, (gates, -1)).movedim(-2, -3)
    return found


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices [G, m, n], m at most n, with their singular values brought near 1."""
    x: Tensor = matrices / (torch.linalg.matrix_norm(matrices, keepdim=True) + TINY)
    for _ in range(ROUNDS):
        square = x @ x.mT  # [G, m, m]
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=B, alpha=C), x, beta=A)
    return x


def _lying(matrices: Tensor) -> Tensor:
    """A view with no more rows than columns."""
    return matrices.mT if matrices.shape[-2] > matrices.shape[-1] else matrices
