"""How sure a conditional random field is: the probability of each tag at each step, and of a path step by step.

N sequences, T steps, K tags, as in `crf.py`. Plain recursions in float64 without a gradient: for answers, not to learn.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from elmo.ops.crf import LEAST, Chain


class Posterior(NamedTuple):
    """Probabilities over all paths of a sequence; zero past its length."""

    marginals: Tensor  # [N, T, K], that step t has tag k
    after: Tensor  # [N, T], that step t has the path's tag, given that step t - 1 has it


@torch.no_grad()
def crf_posterior(emissions: Tensor, path: Tensor, lengths: Tensor, chain: Chain) -> Posterior:
    """Forward and backward over emissions [N, T, K], with one path [N, T] a sequence; lengths [N] are at least 1.

    The chain rule holds: tags a .. b of the path are all right with probability
    `marginals[a, path[a]] * after[a + 1] * ... * after[b]`.
    """
    T = emissions.shape[1]
    alive = torch.arange(T, device=lengths.device) < lengths[:, None]  # [N, T]
    x = emissions.double().masked_fill(~alive[:, :, None], 0.0)
    transitions, start, end = (weights.double().clamp_min(LEAST) for weights in chain)
    alpha = torch.empty_like(x)  # log of all that leads to a tag, itself included
    beta = torch.empty_like(x)  # log of all that follows a tag
    alpha[:, 0] = start + x[:, 0]
    for t in range(1, T):
        alpha[:, t] = torch.logsumexp(alpha[:, t - 1, :, None] + transitions, dim=1) + x[:, t]
    beta[:, T - 1] = end
    for t in range(T - 2, -1, -1):
        longer = torch.logsumexp(transitions + (x[:, t + 1] + beta[:, t + 1])[:, None, :], dim=2)
        beta[:, t] = torch.where((t < lengths - 1)[:, None], longer, end)
    total = torch.logsumexp(alpha[:, 0] + beta[:, 0], dim=1)  # [N]
    marginals = torch.exp(alpha + beta - total[:, None, None]).masked_fill(~alive[:, :, None], 0.0)
    path = path.masked_fill(~alive, 0)
    own = x.gather(2, path[:, :, None])[:, :, 0]  # [N, T]
    follows = beta.gather(2, path[:, :, None])[:, :, 0]  # [N, T]
    after = torch.empty_like(own)
    after[:, 0] = marginals[:, 0].gather(1, path[:, :1])[:, 0]
    between = transitions[path[:, :-1], path[:, 1:]]  # [N, T - 1]
    after[:, 1:] = torch.exp(between + own[:, 1:] + follows[:, 1:] - follows[:, :-1])
    return Posterior(marginals, after.masked_fill(~alive, 0.0))
