"""Spans: scores without a tape are those with one, kept spans are the best that do not cross."""

import math

import numpy as np
import pytest
import torch

from elmo.tasks.coreference.spans import SpanScorer, choose_spans

STATE, OWN, WIDTH = 6, 5, 4


def scorer(dropout: float = 0.0) -> SpanScorer:
    torch.manual_seed(0)
    made = SpanScorer(STATE, OWN, width=WIDTH, units=7, feature=3, dropout=dropout).double()
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.6)
    return made


def document(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(9, STATE, generator=generator, dtype=torch.float64)
    own = torch.randn(9, OWN, generator=generator, dtype=torch.float64)
    return states, own, torch.tensor([0, 0, 0, 0, 0, 1, 2, 2, 2])


def every_span(sentences: torch.Tensor) -> list[tuple[int, int]]:
    T = len(sentences)
    return [(s, e) for s in range(T) for e in range(s, min(T, s + WIDTH)) if sentences[s] == sentences[e]]


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_all_spans_are_those_of_their_vectors(seed: int) -> None:
    states, own, sentences = document(seed)
    made = scorer(dropout=0.5)  # which must not act on the scores that choose
    made.requires_grad_(False)
    attention = made.eval().attention(states)[:, 0]
    scores = made.train()._score_all(states, own, attention, sentences)
    assert made.training
    made.eval()
    for start, end in every_span(sentences):
        weights = torch.softmax(attention[start : end + 1], 0)
        head = (weights[:, None] * own[start : end + 1]).sum(0)
        width = made.widths.weight[end - start]
        hidden = made.first(states[start]) + made.last(states[end]) + made.head(head) + made.wide(width)
        expected = made.score(torch.relu(made.second(torch.relu(hidden))))[0]
        assert float(scores[end - start, start]) == pytest.approx(float(expected), rel=1e-9)
    assert int((scores > -math.inf).sum()) == len(every_span(sentences))


def test_kept_spans_have_their_scores_and_vectors_with_a_gradient() -> None:
    states, own, sentences = document(0)
    states.requires_grad_()
    made = scorer()
    kept = made(states, own, sentences, most=100)
    scores = made._score_all(states, own, made.attention(states)[:, 0], sentences)
    assert kept.scores.tolist() == pytest.approx(scores[kept.ends - kept.starts, kept.starts].tolist(), rel=1e-9)
    assert kept.vectors.shape == (len(kept.starts), made.dim)
    assert kept.vectors[:, :STATE].equal(states[kept.starts])
    assert kept.vectors[:, STATE : 2 * STATE].equal(states[kept.ends])
    kept.scores.sum().backward()
    assert states.grad is not None
    assert bool((states.grad != 0).any())
    assert all(weights.grad is not None for weights in made.parameters())


def test_spans_that_come_first_are_kept_whatever_they_score() -> None:
    states, own, sentences = document(1)
    made = scorer()
    first = torch.zeros(WIDTH, 9, dtype=torch.bool)
    wanted = [(0, 2), (6, 6), (3, 3)]
    for start, end in wanted:
        first[end - start, start] = True
    first[1, 4] = True  # goes over the end of a sentence: never
    kept = made(states, own, sentences, most=3, first=first)
    assert list(zip(kept.starts.tolist(), kept.ends.tolist(), strict=True)) == sorted(wanted)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_spans_that_cross_no_better_one_are_kept(seed: int) -> None:
    dice = np.random.default_rng(seed)
    T, W, most = 12, 5, 8
    scores = dice.normal(size=(W, T))
    scores[dice.random((W, T)) < 0.2] = -math.inf
    for width in range(W):
        scores[width, T - width :] = -math.inf
    expected: list[tuple[int, int]] = []
    spans = [(n % T, n % T + n // T) for n in range(W * T) if scores.ravel()[n] > -math.inf]
    for start, end in sorted(spans, key=lambda span: -scores[span[1] - span[0], span[0]]):
        tokens = set(range(start, end + 1))
        others = [set(range(s, e + 1)) for s, e in expected]
        if all(not tokens & o or tokens <= o or o <= tokens for o in others) and len(expected) < most:
            expected.append((start, end))
    starts, ends = choose_spans(scores, most=most)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == sorted(expected)


def test_a_text_without_spans_keeps_none() -> None:
    starts, ends = choose_spans(np.full((3, 4), -math.inf), most=5)
    assert len(starts) == len(ends) == 0
