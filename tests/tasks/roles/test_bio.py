"""Labels of spans against every sequence of labels, and against the general chain of `ops.crf`."""

import itertools
import math

import pytest
import torch

from elmo.ops.crf import Chain, crf_best_path
from elmo.tasks.roles.bio import bio_best_path, bio_ids, bio_spans, span_probabilities
from elmo.tasks.tagging.spans import Span

KINDS = ["A", "B"]
R = len(KINDS)


def is_allowed(before: int | None, label: int) -> bool:
    return label <= R or (before is not None and before in (label, label - R))


def every_sequence(length: int) -> list[tuple[int, ...]]:
    found = itertools.product(range(1 + 2 * R), repeat=length)
    return [ids for ids in found if all(itertools.starmap(is_allowed, itertools.pairwise((None, *ids))))]


def random_scores(seed: int, *shape: int) -> torch.Tensor:
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_path_is_the_best_of_every_sequence(seed: int) -> None:
    scores = random_scores(seed, 3, 4, 1 + 2 * R)
    lengths = torch.tensor([4, 1, 3])
    paths = bio_best_path(scores, lengths)
    for n, length in enumerate(lengths.tolist()):
        totals = {ids: sum(float(scores[n, t, k]) for t, k in enumerate(ids)) for ids in every_sequence(length)}
        found = tuple(paths[n].tolist())
        assert found[:length] == max(totals, key=lambda ids: totals[ids])
        assert not any(found[length:])


def test_the_best_path_is_that_of_the_general_chain() -> None:
    kinds, N, T = 11, 40, 30
    K = 1 + 2 * kinds
    scores = random_scores(1, N, T, K)
    lengths = torch.randint(1, T + 1, (N,), generator=torch.Generator().manual_seed(2))
    allowed = torch.tensor([[b <= kinds or a in (b, b - kinds) for b in range(K)] for a in range(K)])
    start = torch.tensor([0.0 if k <= kinds else -1e4 for k in range(K)])
    chain = Chain(torch.where(allowed, 0.0, -1e4), start, torch.zeros(K))
    assert bio_best_path(scores, lengths).equal(crf_best_path(scores, lengths, chain))


@pytest.mark.parametrize("seed", range(8))
def test_the_probability_of_a_span_is_a_sum_over_every_sequence(seed: int) -> None:
    length = 5
    scores = random_scores(seed, length, 1 + 2 * R)
    weights = {i: math.exp(sum(float(scores[t, k]) for t, k in enumerate(i))) for i in every_sequence(length)}
    total = sum(weights.values())
    for ids in every_sequence(length)[:: 1 + seed]:
        expected = [
            sum(w for other, w in weights.items() if span in bio_spans(other, KINDS)) / total
            for span in bio_spans(ids, KINDS)
        ]
        assert span_probabilities(scores, ids) == pytest.approx(expected)


def test_spans_become_ids_and_ids_become_spans() -> None:
    spans = (Span(0, 2, "B"), Span(2, 3, "B"), Span(4, 6, "A"))
    ids = bio_ids(spans, 6, {"A": 0, "B": 1})
    assert ids == [2, 4, 2, 0, 1, 3]
    assert bio_spans(ids, KINDS) == spans


def test_without_roles_all_is_outside() -> None:
    assert bio_best_path(torch.zeros(2, 3, 1), torch.tensor([3, 2])).tolist() == [[0, 0, 0]] * 2
