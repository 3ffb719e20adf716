"""Softmax losses over a large vocabulary: full, full in chunks or blocks, and sampled with a log-uniform sampler.

Each gives one loss (negative natural log-probability) for each position and leaves the reduction to the caller.
M positions, P hidden, V classes in order of descending frequency, S sampled classes.
"""

import functools
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from elmo.ops.gpu.triton_support import triton_runs_on

CHUNK_ELEMENTS = 1 << 24  # logits that the chunked versions hold at once: 64 MiB in fp32
# A block of logits takes 2 MiB in fp32, which stay in the cache of a CPU, and which the C library hands out
# again instead of asking the system for new pages. [benchmarks/cpu/softmax.py]
BLOCK_ROWS, BLOCK_CLASSES = 1024, 512


def full_softmax_loss(hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """hidden: [M, P], targets: [M], weight: [V, P], bias: [V] -> losses [M]. Holds all M x V logits at once."""
    return F.cross_entropy(_logits(hidden, weight, bias), targets, reduction="none")


def full_softmax_loss_chunked(
    hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, *, chunk_elements: int = CHUNK_ELEMENTS
) -> Tensor:
    """The same in pieces of at most `chunk_elements` logits; the backward pass computes each piece again."""
    rows = max(1, chunk_elements // len(weight))
    pieces = zip(torch.split(hidden, rows), torch.split(targets, rows), strict=True)
    if torch.is_grad_enabled():
        losses = [checkpoint(full_softmax_loss, h, t, weight, bias, use_reentrant=False) for h, t in pieces]
    else:
        losses = [full_softmax_loss(h, t, weight, bias) for h, t in pieces]
    return torch.cat(losses)


@torch.no_grad()
def full_softmax_loss_blocked(
    hidden: Tensor,
    targets: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    rows: int = BLOCK_ROWS,
    classes: int = BLOCK_CLASSES,
) -> Tensor:
    """The same without gradients, in blocks of positions and of classes."""
    blocks = list(zip(torch.split(weight, classes), torch.split(bias, classes), strict=True))
    losses = []
    for h, t in zip(torch.split(hidden, rows), torch.split(targets, rows), strict=True):
        sums = torch.stack([torch.logsumexp(_logits(h, *block), 1) for block in blocks])  # [blocks, rows]
        wide = sums.dtype
        found = (h.to(wide) * weight[t].to(wide)).sum(1) + bias[t]
        # The target's logit is rounded otherwise than in its block; no loss is below zero.
        losses.append((torch.logsumexp(sums, 0) - found).clamp_min(0.0))
    return torch.cat(losses)


class Samples(NamedTuple):
    """Classes drawn as negatives for all positions of a step, and what is needed to correct for the drawing."""

    ids: Tensor  # [S] int64, all different
    threshold: float  # the class of rank k was drawn with probability 1 - exp(-threshold * p(k))
    vocabulary: int
    ranks: Tensor | None = None  # [V], of each class by frequency; None: the classes stand in that order


def draw_log_uniform(
    count: int, vocabulary: int, *, generator: torch.Generator, ranks: Tensor | None = None
) -> Samples:
    """`count` different classes with log-uniform probabilities by rank, on the generator's device.

    p(k) = log((k + 2) / (k + 1)) / log(V + 1), as TensorFlow's sampler has it. TensorFlow draws until enough different
    classes have come; the first S arrivals of a race in which class k needs an exponential time of rate p(k) are
    distributed the same, and this way all shapes are known beforehand.
    """
    if not 0 < count <= vocabulary:
        raise ValueError(f"{count} samples of {vocabulary} classes: there must be 1 to {vocabulary}")
    device = generator.device
    rates = _log_uniform(torch.arange(vocabulary, device=device) if ranks is None else ranks, vocabulary)
    times = torch.empty(vocabulary, device=device).exponential_(generator=generator) / rates
    ids = times.topk(count, largest=False, sorted=False).indices
    return Samples(ids, race_threshold(count, vocabulary), vocabulary, ranks)


def sampled_softmax_loss(hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, samples: Samples) -> Tensor:
    """The softmax over each position's target and the shared samples: losses [M]. A training loss, no perplexity.

    Logits are lowered by the log of the expected count, for the target as for the samples, and a sample that happens to
    be the target is taken out. [tf.nn.sampled_softmax_loss with remove_accidental_hits]
    """
    wanted = torch.cat([samples.ids, targets])
    corrections = log_expected_count(wanted, samples).to(bias.dtype)  # [S + M]
    if torch.is_autocast_enabled(hidden.device.type):
        hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
    with torch.autocast(hidden.device.type, enabled=False):
        if bias.dtype == torch.float32 and len(targets) and triton_runs_on(hidden.device):
            from elmo.ops.softmax.cuda import sampled_softmax_cuda

            return sampled_softmax_cuda(hidden, targets, weight, bias, samples.ids, corrections)
        return sampled_losses(hidden, targets, weight, bias, samples.ids, corrections)


def sampled_losses(
    hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, ids: Tensor, corrections: Tensor
) -> Tensor:
    """As above, with the logs of the expected counts of the samples [S] and of the targets [M], one behind the other.

    Products are of the type of hidden, sums and what is added to them at least fp32.
    """
    S = len(ids)
    wanted = torch.cat([ids, targets])  # one gather, so that the backward pass makes one dense gradient
    rows = F.embedding(wanted, weight).to(hidden.dtype)  # [S + M, P]
    offsets = F.embedding(wanted, bias[:, None])[:, 0] - corrections  # [S + M]
    drawn = _logits(hidden, rows[:S], offsets[:S])  # [M, S]
    drawn = drawn.masked_fill(targets[:, None] == ids, -math.inf)
    true = (hidden * rows[S:]).sum(-1, dtype=drawn.dtype) + offsets[S:]  # [M]
    # As log(1 + sum exp(drawn - true)): no copy of [M, S] to put the target beside the samples.
    return F.softplus(torch.logsumexp(drawn, dim=1) - true) if len(targets) else true


def log_expected_count(ids: Tensor, samples: Samples) -> Tensor:
    """The log of the probability that a class is among the samples, in fp32."""
    if samples.ranks is not None:
        ids = samples.ranks[ids]
    # With all classes drawn the threshold is infinite and every count is 1.
    return torch.log(-torch.expm1(-samples.threshold * _log_uniform(ids, samples.vocabulary)))


@functools.lru_cache(maxsize=64)
def race_threshold(count: int, vocabulary: int) -> float:
    """The time by which `count` classes have arrived in expectation. [Rosen 1972: asymptotically exact inclusion]"""
    if count >= vocabulary:
        return math.inf
    p = _log_uniform(torch.arange(vocabulary, dtype=torch.float64), vocabulary)
    low, high = 0.0, 1.0
    while float(-torch.expm1(-high * p).sum()) < count:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if float(-torch.expm1(-middle * p).sum()) < count:
            low = middle
        else:
            high = middle
    return high


def _log_uniform(ids: Tensor, vocabulary: int) -> Tensor:
    """p(k) of each class."""
    ids = ids if ids.is_floating_point() else ids.to(torch.float32)
    return torch.log1p(1 / (ids + 1)) / math.log(vocabulary + 1)


def _logits(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """[M, V], in fp32 at least: a sum of exponentials of bf16 logits would lose what training needs."""
    products = hidden @ weight.T
    return (products if products.dtype == torch.float64 else products.float()) + bias
