"""Spans of a document: which may be mentions, by a score of all of them, and the vectors of those that are kept.

All spans of up to W tokens inside of a sentence are scored, without a tape and without a tensor of all their vectors:
what begins, ends and heads a span is added up in the first layer of the scorer, one width at a time. Only kept spans
have vectors, and a gradient. (In Lee et al. 2017 too, only kept ones have a gradient.)

T tokens, W widths, K kept spans, H size of a token's state, E size of a token's own vector, F units of the scorer.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.tasks.networks.masking import lowest
from elmo.tasks.ragged import Integers


@dataclass(frozen=True)
class KeptSpans:
    """The spans that are kept, in the order of the document: from their first token, then by their last."""

    starts: Tensor  # [K]
    ends: Tensor  # [K], the last token
    vectors: Tensor  # [K, 2H + E + the size of widths]
    scores: Tensor  # [K], how much a span is a mention


class SpanScorer(nn.Module):
    """[state of the first token; state of the last; what heads it; width] -> two layers -> score of a mention."""

    def __init__(self, state: int, own: int, *, width: int, units: int, feature: int, dropout: float) -> None:
        super().__init__()
        self.width = width
        self.attention = nn.Sequential(nn.Linear(state, units), nn.ReLU(), nn.Dropout(dropout), nn.Linear(units, 1))
        self.widths = nn.Embedding(width, feature)
        self.first = nn.Linear(state, units)
        self.last = nn.Linear(state, units, bias=False)
        self.head = nn.Linear(own, units, bias=False)
        self.wide = nn.Linear(feature, units, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Linear(units, units)
        self.score = nn.Linear(units, 1)
        self.dim = 2 * state + own + feature

    def forward(
        self, states: Tensor, own: Tensor, sentences: Tensor, *, most: int, first: Tensor | None = None
    ) -> KeptSpans:
        """States [T, H] and vectors [T, E] of the tokens, the sentence of each [T] -> at most so many spans.

        `first` [W, T], by width and first token: the spans that come before others, whatever they score.
        """
        attention = self.attention(states)[:, 0]  # [T]
        with torch.no_grad():
            scores = self._score_all(states.detach(), own.detach(), attention.detach(), sentences)
            if first is not None:
                scores.masked_fill_(first & (scores > -math.inf), math.inf)
        starts, ends = choose_spans(scores.cpu().numpy(), most=most)
        begins, finishes = (torch.from_numpy(places).to(states.device) for places in (starts, ends))
        inside = begins[:, None] + torch.arange(self.width, device=begins.device)  # [K, W]
        is_inside = inside <= finishes[:, None]
        inside = torch.minimum(inside, finishes[:, None])
        shares = torch.softmax(attention[inside].masked_fill(~is_inside, lowest(attention)), dim=1)  # [K, W]
        heads = torch.einsum("kw,kwe->ke", shares, own[inside])
        widths = self.widths(finishes - begins)
        vectors = torch.cat([states[begins], states[finishes], heads, widths], dim=1)
        hidden = self.first(states[begins]) + self.last(states[finishes]) + self.head(heads) + self.wide(widths)
        return KeptSpans(begins, finishes, vectors, self._score(hidden))

    def _score(self, hidden: Tensor) -> Tensor:
        """The scorer from the sum of its first layer [.., F] on."""
        hidden = F.relu(self.second(self.dropout(F.relu(hidden))))
        scores: Tensor = self.score(self.dropout(hidden))[..., 0]
        return scores

    def _score_all(self, states: Tensor, own: Tensor, attention: Tensor, sentences: Tensor) -> Tensor:
        """The scores of all spans by width and first token: [W, T], -inf for those that leave their sentence.

        Dropout does not act here: noise would only keep worse spans. A head is the mean of the vectors of a span,
        weighted by the exponentials of its attention. Their sums grow by a token with each width, from the largest one.
        """
        T = len(states)
        was_training = self.training
        self.eval()
        first, last, heads = self.first(states), self.last(states), self.head(own)
        wide = self.wide(self.widths.weight)  # [W, F]
        top, total, weighted = attention, torch.ones_like(attention), heads
        scores = states.new_full((self.width, T), -math.inf)
        for width in range(1, min(self.width, T) + 1):
            n = T - width + 1  # spans of that width
            if width > 1:
                added = attention[width - 1 :]
                higher = torch.maximum(top[:n], added)
                before, now = (top[:n] - higher).exp(), (added - higher).exp()
                total = total[:n] * before + now
                weighted = weighted[:n] * before[:, None] + now[:, None] * heads[width - 1 :]
                top = higher
            hidden = first[:n] + last[width - 1 :] + weighted / total[:, None] + wide[width - 1]
            whole = sentences[:n] == sentences[width - 1 :]
            scores[width - 1, :n] = self._score(hidden).masked_fill(~whole, -math.inf)
        self.train(was_training)
        return scores


def choose_spans(scores: npt.NDArray[np.floating[Any]], *, most: int) -> tuple[Integers, Integers]:
    """First and last tokens of the best spans [W, T] of which none crosses another, in the order of the document.

    Two spans cross where each has a token that the other has not, and they share one.
    """
    T = scores.shape[1]
    flat = scores.ravel()
    order = np.argsort(-flat, kind="stable")
    widest_from = np.full(T, -1)  # of the kept spans from a token, the last token of the widest
    widest_to = np.full(T, T)  # of the kept spans to a token, the first token of the widest
    kept: list[tuple[int, int]] = []
    for place in order:
        if len(kept) == most or flat[place] == -math.inf:
            break
        width, start = divmod(int(place), T)
        end = start + width
        crosses = (widest_from[start + 1 : end + 1] > end).any() or (widest_to[start:end] < start).any()
        if not crosses:
            kept.append((start, end))
            widest_from[start] = max(widest_from[start], end)
            widest_to[end] = min(widest_to[end], start)
    found = np.array(sorted(kept), dtype=np.int64).reshape(-1, 2)
    return found[:, 0].copy(), found[:, 1].copy()
