"""The best pieces of a text by the scores of their first and last tokens. N texts, T tokens, L the longest piece."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

CANDIDATES = 200  # looked at for several answers that share no token


@dataclass(frozen=True)
class ScoredSpan:
    """Tokens `first` .. `last` with their score; its exponential over that of all pieces is the probability."""

    first: int
    last: int
    score: float


@dataclass(frozen=True)
class Found:
    """The best pieces of a text, best first, none with a token of another; `total`: the logarithm over all pieces."""

    spans: tuple[ScoredSpan, ...]
    total: float

    def probability(self, span: ScoredSpan) -> float:
        """How much of all pieces together this one is."""
        return math.exp(min(0.0, span.score - self.total))


def best_spans(starts: Tensor, ends: Tensor, mask: Tensor, own: Tensor, *, longest: int, most: int) -> list[Found]:
    """Of scores [N, T] and a mask [N, T]; a piece begins among the tokens `own` [N, 2] and has `longest` or fewer."""
    steps = torch.arange(starts.shape[1], device=starts.device)
    mine = mask & (steps >= own[:, :1]) & (steps < own[:, 1:])
    begin = starts.double().masked_fill(~mine, -math.inf)
    end = F.pad(ends.double().masked_fill(~mask, -math.inf), (0, longest - 1), value=-math.inf)
    together = (begin[:, :, None] + end.unfold(1, longest, 1)).flatten(1)  # [N, T * L]
    totals = together.logsumexp(1).tolist()
    scores, places = together.topk(min(1 if most == 1 else CANDIDATES, together.shape[1]), dim=1)
    found = []
    for row, where, total in zip(scores.tolist(), places.tolist(), totals, strict=True):
        pairs = zip(row, where, strict=True)
        spans = (ScoredSpan(n // longest, n // longest + n % longest, s) for s, n in pairs if s > -math.inf)
        found.append(Found(apart(spans, most=most), total))
    return found


def apart(spans: Iterable[ScoredSpan], *, most: int) -> tuple[ScoredSpan, ...]:
    """The first `most` of pieces that share no token with one before."""
    kept: list[ScoredSpan] = []
    for span in spans:
        if all(span.last < other.first or other.last < span.first for other in kept):
            kept.append(span)
            if len(kept) == most:
                break
    return tuple(kept)
