"""Muon: a step of a weight matrix is its momentum made orthogonal; all other parameters go by Adam.

Orthogonal: the same singular vectors, and all singular values about 1, so that every direction is learned at the same
pace. [Jordan et al. 2024, kellerjordan.github.io/posts/muon; scaled as in Liu et al. 2025, arXiv 2502.16982]
G matrices, k the shorter of their two sides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.fields import formerly
from elmo.ops.gpu.products import product_as
from elmo.ops.momentum import nesterov, take_step
from elmo.pretrain.step.optimizers.adam import Adam, AdamConfig
from elmo.pretrain.step.optimizers.optimizer import check_not_negative, check_positive, gradient_of

# Of the polynomials a x + b x^3 + c x^5 that are applied to the singular values one after the other. Each is the best
# there is (minimax) for the interval that the one before it leaves, the first for [0.003, 1]; with 4 % of room at the
# upper end, beyond which they grow fast. All of it ends between 0.77 and 1.24. [Amsel et al. 2025, arXiv 2505.16932]
ROUNDS = (
    (8.3837, -24.7659, 18.3571),
    (3.8972, -2.6859, 0.4697),
    (3.4202, -2.3775, 0.4393),
    (2.4912, -1.7267, 0.3774),
)
# So many rounds go by on the Gram matrix alone. Four would amplify what it has lost of the smallest values.
ROUNDS_OF_A_GRAM = 2
ROOM = 1.02  # of the bound of the largest singular value, squared, for rounding
TINY = 1e-14
# A parameter holds so many matrices beside each other: the gates of an LSTM. The outputs of a highway are taken in four
# parts as well: as good after as many steps, with a ninth of the work. (dev/log.md)
GATES = {"weight_x": 4, "weight_h": 4, "weight_carry": 4, "weight_transform": 4}


@dataclass(frozen=True, kw_only=True)
class MuonConfig:
    """Muon for the weight matrices of LSTM and token encoder, Adam for tables, softmax, filters and biases.

    `learning_rate`: None is one for the size of the model (`pretrain.plan`). `matrix_scale`: the root mean square of a
    matrix's step, as a fraction of the learning rate; of Adam's steps it is 0.2 to 0.4. `weight_decay` is of the weight
    matrices alone: a softmax that decays drives the outputs of the LSTM, which must make up for it, into their clip.
    """

    kind: Literal["muon"] = "muon"
    learning_rate: float | None = field(default=None, metadata=formerly("rate"))
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
        return AdamConfig(learning_rate=self.learning_rate, beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon)


class Muon:
    """Momentum of Nesterov's kind, made orthogonal. Matrices with one shorter side go through the products together."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: MuonConfig, *, bf16: bool) -> None:
        self._config, self._bf16 = config, bf16
        self._matrices = {name: p for name, p in parameters.items() if is_weight_matrix(name)}
        self._momenta = {name: torch.zeros_like(p, requires_grad=False) for name, p in self._matrices.items()}
        self._rest = Adam({n: p for n, p in parameters.items() if n not in self._matrices}, config.adam())
        self._families: dict[int, dict[tuple[int, int], list[str]]] = {}  # by shorter side, then by shape
        for name, p in self._matrices.items():
            m, n = p.shape[-2], p.shape[-1] // gates_of(name, p)
            self._families.setdefault(min(m, n), {}).setdefault((m, n), []).append(name)

    @torch.no_grad()
    def update(self, learning_rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        self._rest.update(learning_rate, bad, factor)
        if not self._matrices:
            return
        rate = torch.where(bad.bool(), 0.0, learning_rate)
        keep = 1 - rate * self._config.weight_decay
        if factor is None:
            factor = torch.ones_like(bad, dtype=torch.float32)
        for shapes in self._families.values():
            stacks = [self._stack(shape, names, factor, bad) for shape, names in shapes.items()]
            for (shape, names), steps in zip(shapes.items(), orthogonal(stacks), strict=True):
                # The root mean square of an orthogonal matrix is one by the root of its longer side.
                size = rate * (self._config.matrix_scale * math.sqrt(max(shape)))
                for name, step in zip(names, self._split(steps, names), strict=True):
                    p = self._matrices[name]
                    take_step(p, step, gates=gates_of(name, p), keep=keep, size=size)

    def tensors(self) -> dict[str, Tensor]:
        return {**{f"momentum.{name}": tensor for name, tensor in self._momenta.items()}, **self._rest.tensors()}

    def _stack(self, shape: tuple[int, int], names: list[str], factor: Tensor, bad: Tensor) -> Tensor:
        """The next steps of matrices of one shape, not yet orthogonal: [G, m, n]. Brings their momenta forward."""
        first = self._matrices[names[0]]
        count = sum(self._matrices[name].numel() for name in names) // (shape[0] * shape[1])
        stack = torch.empty(count, *shape, dtype=torch.bfloat16 if self._bf16 else first.dtype, device=first.device)
        for name, step in zip(names, self._split(stack, names), strict=True):
            p = self._matrices[name]
            nesterov(
                gradient_of(p),
                self._momenta[name],
                step,
                gates=gates_of(name, p),
                beta=self._config.momentum,
                factor=factor,
                bad=bad,
            )
        return stack

    def _split(self, stack: Tensor, names: list[str]) -> tuple[Tensor, ...]:
        m, n = stack.shape[1:]
        parts: tuple[Tensor, ...] = stack.split([self._matrices[name].numel() // (m * n) for name in names])
        return parts


def is_weight_matrix(name: str) -> bool:
    """Whether a parameter maps one hidden layer to another. Tables of characters, words and outputs do not."""
    return name.rpartition(".")[2].startswith("weight_")


def gates_of(name: str, parameter: Tensor) -> int:
    """How many matrices stand beside each other in a parameter."""
    return math.gcd(GATES.get(name.rpartition(".")[2], 1), parameter.shape[-1])


def orthogonal(stacks: Sequence[Tensor]) -> list[Tensor]:
    """Stacks of matrices [G, m, n] whose shorter sides are equal, with their singular values brought near 1.

    x becomes a x + b (x x') x + c (x x')^2 x = p x, and its Gram matrix g = x x' becomes p g p. So the small g tells
    p for more than one round, and the long x is multiplied once for all of them.
    """
    stacks = list(stacks)
    scale = None
    for start in range(0, len(ROUNDS), ROUNDS_OF_A_GRAM):
        grams = torch.cat([_gram(x) for x in stacks])
        if scale is None:
            # No singular value of g is above its norm. The first round is of x / sqrt(bound).
            bound = torch.linalg.matrix_norm(grams, keepdim=True) * ROOM + TINY
            grams, scale = grams / bound, bound.rsqrt()
        # Of the 16 bits of bfloat16 too few are the number's own; and here nothing is beyond the range of the other.
        half = stacks[0].dtype == torch.bfloat16
        factors = _factors(grams.half() if half else grams, ROUNDS[start : start + ROUNDS_OF_A_GRAM])
        if start == 0:
            factors = factors * scale
        parts = factors.to(stacks[0].dtype).split([len(x) for x in stacks])
        stacks = [q @ x if _lies(x) else x @ q for q, x in zip(parts, stacks, strict=True)]
    return stacks


def _factors(grams: Tensor, rounds: Sequence[tuple[float, float, float]]) -> Tensor:
    """What some rounds multiply matrices with, from their Gram matrices [G, k, k]. All of these commute."""
    made = None
    for number, (a, b, c) in enumerate(rounds, start=1):
        p = torch.baddbmm(grams, grams, grams, beta=b, alpha=c)
        p.diagonal(dim1=1, dim2=2).add_(a)
        if number < len(rounds):
            grams = p @ grams @ p
        made = p if made is None else p @ made
    assert made is not None
    return made


def _gram(x: Tensor) -> Tensor:
    """Of the rows or the columns, whichever are fewer: [G, k, k]. That of bfloat16 is left in float32, as summed."""
    a, b = (x, x.mT) if _lies(x) else (x.mT, x)
    if x.dtype != torch.bfloat16:
        return a @ b
    return product_as(a, b, torch.float32) if x.is_cuda else a.float() @ b.float()


def _lies(matrices: Tensor) -> bool:
    """Whether there are no more rows than columns."""
    return matrices.shape[-2] <= matrices.shape[-1]
