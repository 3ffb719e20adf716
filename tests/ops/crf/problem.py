"""Small random chains, and the score of every path through one."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from elmo.ops.crf import Chain

K = 3
LENGTHS = [4, 1, 3, 2]


def make(
    *, seed: int = 0, scale: float = 1.0, forbidden: bool = False, steps: Sequence[int] = LENGTHS
) -> tuple[Tensor, Tensor, Chain]:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return scale * torch.randn(*shape, generator=generator, dtype=torch.float64)

    emissions, chain = draw(len(steps), max(steps), K), Chain(draw(K, K), draw(K), draw(K))
    if forbidden:
        chain.transitions[0, 1] = chain.start[2] = -math.inf
    return emissions, torch.tensor(steps), chain


def all_paths(emissions: Tensor, length: int, chain: Chain) -> dict[tuple[int, ...], float]:
    scores = {}
    for path in itertools.product(range(K), repeat=length):
        score = chain.start[path[0]] + chain.end[path[-1]] + sum(emissions[t, y] for t, y in enumerate(path))
        score = score + sum(chain.transitions[a, b] for a, b in itertools.pairwise(path))
        scores[path] = float(score)
    return scores
