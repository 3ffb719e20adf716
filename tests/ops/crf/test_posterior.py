"""Probabilities of tags and of parts of a path against the sum over every path, in float64."""

import math

import pytest
import torch
from tests.ops.crf.problem import LENGTHS, K, all_paths, make

from elmo.ops.crf import Chain, crf_best_path
from elmo.ops.crf.posterior import crf_posterior


@pytest.mark.parametrize("forbidden", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_marginals_are_the_shares_of_all_paths_with_the_tag(seed: int, forbidden: bool) -> None:
    emissions, lengths, chain = make(seed=seed, forbidden=forbidden, scale=2.0)
    found = crf_posterior(emissions, crf_best_path(emissions, lengths, chain), lengths, chain).marginals
    for n, length in enumerate(LENGTHS):
        shares = {path: math.exp(score) for path, score in all_paths(emissions[n], length, chain).items()}
        total = sum(shares.values())
        for t in range(length):
            for k in range(K):
                expected = sum(share for path, share in shares.items() if path[t] == k) / total
                assert float(found[n, t, k]) == pytest.approx(expected, abs=1e-12)
        assert not found[n, length:].any()


@pytest.mark.parametrize("forbidden", [False, True])
def test_a_part_of_the_path_has_the_share_of_all_paths_that_agree_with_it(forbidden: bool) -> None:
    emissions, lengths, chain = make(seed=4, forbidden=forbidden, scale=2.0)
    best = crf_best_path(emissions, lengths, chain)
    marginals, after = crf_posterior(emissions, best, lengths, chain)
    for n, length in enumerate(LENGTHS):
        own = tuple(best[n, :length].tolist())
        shares = {path: math.exp(score) for path, score in all_paths(emissions[n], length, chain).items()}
        total = sum(shares.values())
        for a in range(length):
            for b in range(a, length):
                expected = sum(s for path, s in shares.items() if path[a : b + 1] == own[a : b + 1]) / total
                found = float(marginals[n, a, own[a]] * after[n, a + 1 : b + 1].prod())
                assert found == pytest.approx(expected, abs=1e-12)


def test_padding_changes_nothing_and_long_sequences_stay_finite() -> None:
    emissions, lengths, chain = make(seed=5)
    best = crf_best_path(emissions, lengths, chain)
    noisy = emissions.clone()
    for n, length in enumerate(LENGTHS):
        noisy[n, length:] = 1e4
    for found, expected in zip(
        crf_posterior(noisy, best, lengths, chain), crf_posterior(emissions, best, lengths, chain), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    long, lengths, chain = make(seed=6, scale=30.0, steps=[2000])
    marginals, after = crf_posterior(long.float(), crf_best_path(long, lengths, chain), lengths, chain)
    assert marginals.sum(2) == pytest.approx(1.0, abs=1e-9)
    assert after.max() <= 1 + 1e-9


def test_tags_that_may_not_be_have_probability_zero_and_no_path_at_all_stays_finite() -> None:
    emissions, lengths, chain = make(seed=7)
    chain.start[2] = -10_000.0
    marginals, _ = crf_posterior(emissions, crf_best_path(emissions, lengths, chain), lengths, chain)
    assert not marginals[:, 0, 2].any()
    nothing = Chain(torch.full_like(chain.transitions, -math.inf), chain.start, chain.end)
    for found in crf_posterior(emissions, crf_best_path(emissions, lengths, nothing), lengths, nothing):
        assert torch.isfinite(found).all()
