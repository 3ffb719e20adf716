"""The best pieces against all pieces tried one by one; probabilities of all of them are one in sum."""

import math

import torch

from elmo.tasks.questions.spans import Found, ScoredSpan, best_spans

LENGTHS = torch.tensor([7, 4, 1])
MASK = torch.arange(7) < LENGTHS[:, None]
OWN = torch.tensor([[2, 5], [0, 4], [0, 1]])
LONGEST = 3


def every_span(starts: torch.Tensor, ends: torch.Tensor, n: int) -> list[ScoredSpan]:
    found = [
        ScoredSpan(first, last, float(starts[n, first].double() + ends[n, last].double()))
        for first in range(*OWN[n].tolist())
        for last in range(first, min(first + LONGEST, int(LENGTHS[n])))
    ]
    return sorted(found, key=lambda span: -span.score)


def test_the_best_pieces_are_those_of_trying_all() -> None:
    torch.manual_seed(0)
    starts, ends = 2 * torch.randn(3, 7), 2 * torch.randn(3, 7)
    low = torch.finfo(torch.float32).min
    starts, ends = starts.masked_fill(~MASK, low), ends.masked_fill(~MASK, low)
    alone = best_spans(starts, ends, MASK, OWN, longest=LONGEST, most=1)
    several = best_spans(starts, ends, MASK, OWN, longest=LONGEST, most=20)
    for n in range(3):
        every = every_span(starts, ends, n)
        assert alone[n].spans == (every[0],) == several[n].spans[:1]
        kept: list[ScoredSpan] = []
        for span in every:
            if not any(set(range(span.first, span.last + 1)) & set(range(k.first, k.last + 1)) for k in kept):
                kept.append(span)
        assert list(several[n].spans) == kept
        assert math.isclose(sum(alone[n].probability(span) for span in every), 1.0, rel_tol=1e-9)


def test_a_probability_is_never_above_one() -> None:
    assert Found((ScoredSpan(0, 0, 3.0),), 3.0 - 1e-12).probability(ScoredSpan(0, 0, 3.0)) == 1.0
