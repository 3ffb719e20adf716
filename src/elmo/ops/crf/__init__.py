"""Linear-chain conditional random field: log-partition, score of a path, best path. Loops over time only, never rows.

N sequences, T steps, K tags. A path y of length n scores
`start[y_0] + sum_t emissions[t, y_t] + sum_t transitions[y_{t-1}, y_t] + end[y_{n-1}]`. A transition that may not be is
-inf, or so low that its exponential is zero.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

SCALE_EVERY = 4  # steps; float64 has room for that many, and on a GPU every operation of a step counts
TINY = 1e-300  # the least a float64 sum is taken for, so that its logarithm stays finite
LOST = 1e-200  # sums below this may miss paths that were rounded to zero on the way, so they are computed anew
LEAST = -1e6  # stands for -inf where logarithms are added, whose gradient would be NaN


class Chain(NamedTuple):
    """The weights between tags."""

    transitions: Tensor  # [K, K], from row to column
    start: Tensor  # [K]
    end: Tensor  # [K]


def crf_loss(emissions: Tensor, tags: Tensor, lengths: Tensor, chain: Chain) -> Tensor:
    """-log p(tags) of each sequence: emissions [N, T, K], tags [N, T], lengths [N] (each at least 1) -> [N]."""
    emissions = emissions.float()
    return crf_log_partition(emissions, lengths, chain) - crf_score(emissions, tags, lengths, chain)


def crf_loss_unchecked(emissions: Tensor, tags: Tensor, lengths: Tensor, chain: Chain) -> tuple[Tensor, Tensor]:
    """The same [N] without a look at the result, for which the host would wait; and whether it is right [N].

    Where it is not, that sequence's loss is another number and its gradient too small: `crf_loss` has the right ones.
    """
    emissions = emissions.float()
    partition, sound = _LogPartition.apply(emissions, lengths, *chain)  # type: ignore[no-untyped-call]
    return partition - crf_score(emissions, tags, lengths, chain), sound


def crf_score(emissions: Tensor, tags: Tensor, lengths: Tensor, chain: Chain) -> Tensor:
    """The score of one path a sequence: [N]."""
    alive = _alive(lengths, emissions.shape[1])  # [N, T]
    tags = tags.masked_fill(~alive, 0)
    own = emissions.gather(2, tags[:, :, None])[:, :, 0]  # [N, T]
    between = chain.transitions[tags[:, :-1], tags[:, 1:]]  # [N, T - 1]
    last = tags.gather(1, lengths[:, None] - 1)[:, 0]
    inside = own.masked_fill(~alive, 0.0).sum(1) + between.masked_fill(~alive[:, 1:], 0.0).sum(1)
    return inside + chain.start[tags[:, 0]] + chain.end[last]


def crf_log_partition_reference(emissions: Tensor, lengths: Tensor, chain: Chain) -> Tensor:
    """log of the sum over all paths of exp(score): [N]. The recursion as it is written; autograd gives its gradient."""
    alpha = chain.start + emissions[:, 0]  # [N, K]
    for t in range(1, emissions.shape[1]):
        longer = torch.logsumexp(alpha[:, :, None] + chain.transitions, dim=1) + emissions[:, t]
        alpha = torch.where((t < lengths)[:, None], longer, alpha)
    return torch.logsumexp(alpha + chain.end, dim=1)


def crf_log_partition(emissions: Tensor, lengths: Tensor, chain: Chain) -> Tensor:
    """The same as the reference, with the forward and the backward recursion in one loop and no tape: [N].

    Where emissions of hundreds of nats go against what the transitions allow, all that is left may be too small for
    float64; such sequences (trained taggers have none) take the reference.
    """
    result: Tensor
    result, sound = _LogPartition.apply(emissions, lengths, *chain)  # type: ignore[no-untyped-call]
    if sound.all():
        return result
    rare = ~sound
    weights = Chain(*(x.double().clamp_min(LEAST) for x in chain))
    exact = crf_log_partition_reference(emissions[rare].double(), lengths[rare], weights)
    return result.masked_scatter(rare, exact.to(result.dtype))


class _LogPartition(torch.autograd.Function):
    """The scaled recursions in float64: sums of probabilities, divided by their sum every few steps.

    The backward recursion is the forward one over the reversed sequence and the transposed transitions, so both are one
    product of [2, N, K] with [2, K, K] a step. The gradient is then the marginals, for all steps at once.
    """

    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
    ) -> tuple[Tensor, Tensor]:
        N, T, K = emissions.shape
        dtype = emissions.dtype
        alive = _alive(lengths, T)  # [N, T]
        x = emissions.double().masked_fill(~alive[:, :, None], 0.0)
        top = x.amax(2)  # [N, T]
        local = torch.exp(x - top[:, :, None])  # [N, T, K]
        steps = torch.arange(T, device=x.device)
        reversed_steps = (lengths[:, None] - 1 - steps).clamp(min=0)  # [N, T], its own inverse inside a sequence
        both = torch.stack([local, local.gather(1, reversed_steps[:, :, None].expand(-1, -1, K))])  # [2, N, T, K]
        between = transitions.double().exp()  # [K, K]
        weights = torch.stack([between, between.T])
        ends = torch.stack([start, end]).double().exp()  # [2, K]
        messages = x.new_empty(T, 2, N, K)
        sums = x.new_ones(T, 2, N, 1)
        message = both[:, :, 0] * ends[:, None]
        for t, (own, place) in enumerate(zip(both.unbind(2), messages.unbind(0), strict=True)):
            if t:
                message = torch.mul(torch.bmm(message, weights), own, out=place)
            if t % SCALE_EVERY == 0:
                torch.sum(message, dim=2, keepdim=True, out=sums[t])
                message = torch.div(message, sums[t].clamp_min_(TINY), out=place)
        forward_messages = messages[:, 0].transpose(0, 1)  # [N, T, K]
        backward_messages = messages[:, 1].transpose(0, 1).gather(1, reversed_steps[:, :, None].expand(-1, -1, K))
        # What follows a step, without the step itself: the end, or what the next step's message says.
        follows = torch.cat([backward_messages[:, 1:] @ between.T, ends[1].expand(N, 1, K)], dim=1)
        is_last = (steps == lengths[:, None] - 1)[:, :, None]
        follows = torch.where(is_last, ends[1], follows)
        joint = forward_messages * follows  # [N, T, K]
        total = joint.sum(2, keepdim=True)  # [N, T, 1]
        marginals = (joint / total.clamp_min(LOST)).masked_fill(~alive[:, :, None], 0.0)
        ctx.save_for_backward(marginals, forward_messages, backward_messages, total, between, lengths)
        ctx.dtypes = (dtype, transitions.dtype, start.dtype, end.dtype)
        last = (lengths - 1)[:, None]
        scale = (sums[:, 0, :, 0].T.log() + top).masked_fill(~alive, 0.0).sum(1)  # [N]
        # Both messages at a step are shares of one; what they have in common tells whether anything was lost.
        sound = ((total[:, :, 0] >= LOST) | ~alive).all(1)  # [N]
        ctx.mark_non_differentiable(sound)
        return (scale + total[:, :, 0].gather(1, last)[:, 0].clamp_min(LOST).log()).to(dtype), sound

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        marginals, before, after, total, between, lengths = ctx.saved_tensors
        gradient = gradients[0].double()[:, None, None]  # [N, 1, 1]
        on_emissions = marginals * gradient
        pairs = (before / total.clamp_min(LOST) * gradient)[:, :-1]
        pairs = pairs.masked_fill(~_alive(lengths - 1, pairs.shape[1])[:, :, None], 0.0)
        K = between.shape[0]
        on_transitions = between * (pairs.reshape(-1, K).T @ after[:, 1:].reshape(-1, K))
        last = (lengths - 1)[:, None, None].expand(-1, 1, K)
        dtypes = ctx.dtypes
        return (
            on_emissions.to(dtypes[0]),
            None,
            on_transitions.to(dtypes[1]),
            on_emissions[:, 0].sum(0).to(dtypes[2]),
            on_emissions.gather(1, last)[:, 0].sum(0).to(dtypes[3]),
        )


@torch.no_grad()
def crf_best_path(emissions: Tensor, lengths: Tensor, chain: Chain) -> Tensor:
    """The path with the highest score: [N, T], zero past a length."""
    emissions = emissions.float()
    N, T, K = emissions.shape
    alive = _alive(lengths, T)
    best = chain.start + emissions[:, 0]  # [N, K]
    origins = torch.empty(T, N, K, dtype=torch.long, device=emissions.device)
    stay = torch.arange(K, device=emissions.device)
    for t in range(1, T):
        score, origin = torch.max(best[:, :, None] + chain.transitions, dim=1)
        inside = alive[:, t, None]
        best = torch.where(inside, score + emissions[:, t], best)
        origins[t] = torch.where(inside, origin, stay)
    tag = (best + chain.end).argmax(1)  # [N]
    path = torch.empty(N, T, dtype=torch.long, device=emissions.device)
    for t in range(T - 1, -1, -1):
        path[:, t] = tag
        if t:
            tag = origins[t].gather(1, tag[:, None])[:, 0]
    return path.masked_fill(~alive, 0)


def _alive(lengths: Tensor, T: int) -> Tensor:
    return torch.arange(T, device=lengths.device) < lengths[:, None]
