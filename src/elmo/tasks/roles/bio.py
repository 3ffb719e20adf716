"""Labels of tokens as spans that do not overlap: O, B-r and I-r, where I-r stands only behind B-r or I-r.

The best sequence, and the probability of a span over all sequences. Since all labels but I-r may follow anything, a
step costs as many operations as there are labels, not their square as in `ops.crf`.

N sequences, T tokens, R kinds of spans. Scores are [N, T, 1 + 2R]: of O, of B-0 .. B-(R-1), of I-0 .. I-(R-1).
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from elmo.tasks.tagging.spans import Span

OUTSIDE = 0
NEVER = float("-inf")


def bio_ids(spans: Iterable[Span], length: int, kinds: dict[str, int]) -> list[int]:
    """The ids of the labels of a sentence from its spans."""
    ids = [OUTSIDE] * length
    for start, end, label in spans:
        kind = kinds[label]
        ids[start:end] = [1 + len(kinds) + kind] * (end - start)
        ids[start] = 1 + kind
    return ids


def bio_spans(ids: Sequence[int], kinds: Sequence[str]) -> tuple[Span, ...]:
    """The spans of labels in which every I-r stands behind B-r or I-r."""
    spans: list[Span] = []
    for n, label in enumerate(ids):
        if label > len(kinds):
            spans[-1] = spans[-1]._replace(end=n + 1)
        elif label != OUTSIDE:
            spans.append(Span(n, n + 1, kinds[label - 1]))
    return tuple(spans)


@torch.no_grad()
def bio_best_path(scores: Tensor, lengths: Tensor) -> Tensor:
    """The sequence of labels with the highest sum of scores: [N, T], O past a length (each at least 1)."""
    N, T, R = scores.shape[0], scores.shape[1], (scores.shape[2] - 1) // 2
    outside = torch.arange(T, device=scores.device) >= lengths.to(scores.device)[:, None]  # [N, T]
    scores = scores.masked_fill(outside[:, :, None], NEVER)
    scores[:, :, OUTSIDE] = scores[:, :, OUTSIDE].masked_fill(outside, 0.0)
    best = scores[:, 0].clone()
    best[:, 1 + R :] = NEVER
    tops, stays = [], []  # [N] the best label of a step; [N, R] whether I-r is better behind I-r than behind B-r
    for t in range(1, T):
        top, label = best.max(1)
        begun, inside = best[:, 1 : 1 + R], best[:, 1 + R :]
        stays.append(inside > begun)
        tops.append(label)
        best = torch.cat(
            [top[:, None] + scores[:, t, : 1 + R], torch.maximum(begun, inside) + scores[:, t, 1 + R :]], 1
        )
    path = torch.empty(N, T, dtype=torch.long, device=scores.device)
    path[:, T - 1] = label = best.argmax(1)
    for t in range(T - 2, -1, -1):
        kind = (label - 1 - R).clamp(min=0)
        stay = stays[t].gather(1, kind[:, None])[:, 0] if R else label > 0
        label = torch.where(label > R, torch.where(stay, label, label - R), tops[t])
        path[:, t] = label
    return path


@torch.no_grad()
def span_probabilities(scores: Tensor, ids: Sequence[int]) -> list[float]:
    """Of each span in the labels of one sentence, [T, 1 + 2R]: that exactly its tokens are one span of that kind."""
    T, R = scores.shape[0], (scores.shape[1] - 1) // 2
    x = scores.double()
    before = [x.new_zeros(())]  # log of the sum over all labels of the tokens before t
    inside = x.new_full((R,), NEVER)  # of those that end in B-r or I-r
    for t in range(T):
        begun = before[t] + x[t, 1 : 1 + R]
        inside = torch.logaddexp(begun, inside + x[t, 1 + R :])
        before.append(torch.logsumexp(torch.cat([inside, (before[t] + x[t, OUTSIDE])[None]]), 0))
    behind = [x.new_zeros(())]  # log of the sum over all labels of the tokens from t on, of which t's is not I-r
    goes_on = x.new_full((R,), NEVER)  # the same where it is I-r
    for t in range(T - 1, -1, -1):
        follows = torch.logaddexp(behind[0], goes_on)
        behind.insert(0, torch.logsumexp(torch.cat([x[t, 1 : 1 + R] + follows, (behind[0] + x[t, OUTSIDE])[None]]), 0))
        goes_on = x[t, 1 + R :] + follows
    found = []
    for start, end, _ in bio_spans(ids, [""] * R):
        own = x[torch.arange(start, end), torch.tensor(list(ids[start:end]))].sum()
        found.append(float((before[start] + own + behind[end] - before[T]).exp()))
    return found
