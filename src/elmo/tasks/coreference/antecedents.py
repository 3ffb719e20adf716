"""Which earlier span does a span refer to? A coarse score picks a few, a fine one judges them. [Lee et al. 2018]

K spans in the order of the document, A antecedents of each, D size of a span's vector, F units.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from elmo.tasks.coreference.spans import KeptSpans
from elmo.tasks.networks.masking import lowest

BLOCK = 512  # spans whose pairs are scored together; with a gradient their vectors are made once more, block by block
DISTANCES = (1, 2, 3, 4, 5, 8, 16, 32, 64)  # in spans, where a bucket begins
UNKNOWN, SAME, OTHER = 0, 1, 2  # speakers


@dataclass(frozen=True)
class Antecedents:
    """The best antecedents of each span. `scores` has that of none, which is 0, before the others."""

    spans: Tensor  # [K, A], numbers of earlier spans
    scores: Tensor  # [K, 1 + A], very low where there is no earlier span


class AntecedentScorer(nn.Module):
    """Coarse: a bilinear form. Fine: [span; antecedent; their product; same speaker; distance] -> two layers."""

    def __init__(self, dim: int, *, most: int, units: int, feature: int, dropout: float) -> None:
        super().__init__()
        self.most = most
        self.dropout = nn.Dropout(dropout)
        self.bilinear = nn.Linear(dim, dim, bias=False)
        self.span = nn.Linear(dim, units)
        self.antecedent = nn.Linear(dim, units, bias=False)
        self.product = nn.Linear(dim, units, bias=False)
        self.features = nn.Linear(2 * feature, units, bias=False)
        self.speakers = nn.Embedding(3, feature)
        self.distances = nn.Embedding(len(DISTANCES) + 1, feature)
        self.second = nn.Linear(units, units)
        self.score = nn.Linear(units, 1)
        self.register_buffer("_edges", torch.tensor(DISTANCES), persistent=False)
        self._edges: Tensor

    def forward(self, kept: KeptSpans, speakers: Tensor) -> Antecedents:
        """Spans, and the number of the speaker of each (0: unknown) [K]."""
        K = len(kept.scores)
        vectors = kept.vectors
        asked = self.bilinear(self.dropout(vectors))
        with torch.no_grad():
            chosen = [
                self._choose(asked[first : first + BLOCK], vectors, kept.scores, first) for first in range(0, K, BLOCK)
            ]
        spans = torch.cat(chosen) if chosen else torch.empty(0, 0, dtype=torch.long, device=vectors.device)
        own, others = self.span(vectors), self.antecedent(vectors)  # [K, F]
        scores = []
        for first in range(0, K, BLOCK):
            block = slice(first, first + BLOCK)
            given = (first, spans[block], vectors, asked[block], own[block], others, kept.scores, speakers)
            scores.append(_again(self._pairs, *given) if K > BLOCK else self._pairs(*given))
        found = torch.cat(scores) if scores else vectors.new_empty(0, 0)
        return Antecedents(spans, torch.cat([found.new_zeros(K, 1), found], dim=1))

    def _choose(self, asked: Tensor, vectors: Tensor, mentions: Tensor, first: int) -> Tensor:
        """The earlier spans with the best coarse scores, of spans from `first` on: [B, A]. Past those, any span."""
        behind = first + len(asked)
        coarse = asked @ vectors[:behind].T + mentions[:behind]  # what a span itself scores is the same for all
        numbers = torch.arange(behind, device=vectors.device)
        is_earlier = numbers < numbers[first:, None]
        best = coarse.masked_fill(~is_earlier, lowest(coarse)).topk(min(self.most, behind), dim=1).indices
        # Blocks have the same number of columns; the first ones may have fewer spans before them.
        return F.pad(best, (0, min(self.most, len(vectors)) - best.shape[1]), value=len(vectors) - 1)

    def _pairs(
        self,
        first: int,
        spans: Tensor,
        vectors: Tensor,
        asked: Tensor,
        own: Tensor,
        others: Tensor,
        mentions: Tensor,
        speakers: Tensor,
    ) -> Tensor:
        """The scores of pairs: of spans from `first` on, each with those antecedents [B, A]."""
        numbers = torch.arange(first, first + len(spans), device=spans.device)[:, None]  # [B, 1]
        there = vectors[spans]  # [B, A, D]
        here = vectors[first : first + len(spans), None]
        hidden = own[:, None] + others[spans] + self.product(here * there)
        distance = torch.bucketize((numbers - spans).clamp(min=0), self._edges, right=True)
        known = (speakers[numbers] > 0) & (speakers[spans] > 0)
        same = torch.where(known, torch.where(speakers[numbers] == speakers[spans], SAME, OTHER), UNKNOWN)
        features = torch.cat([self.speakers(same), self.distances(distance)], dim=2)
        hidden = F.relu(hidden + self.features(self.dropout(features)))
        hidden = F.relu(self.second(self.dropout(hidden)))
        fine = self.score(self.dropout(hidden))[:, :, 0]  # [B, A]
        coarse = torch.einsum("bd,bad->ba", asked, there)
        total = fine + coarse + mentions[numbers] + mentions[spans]
        masked: Tensor = total.masked_fill(spans >= numbers, lowest(total))
        return masked


def _again(function: Callable[..., Tensor], *given: Any) -> Tensor:
    """The same, computed once more for the gradient instead of being kept for it."""
    found: Tensor = checkpoint(function, *given, use_reentrant=False)
    return found
