"""The CRF against the sum over every path, in float64, and its gradients against autograd of the plain recursion."""

import math

import pytest
import torch
from tests.ops.crf.problem import LENGTHS, K, all_paths, make
from tests.tolerances import assert_near

from elmo.ops.crf import (
    Chain,
    crf_best_path,
    crf_log_partition,
    crf_log_partition_reference,
    crf_loss,
    crf_loss_unchecked,
    crf_score,
)


@pytest.mark.parametrize("forbidden", [False, True])
@pytest.mark.parametrize("partition", [crf_log_partition, crf_log_partition_reference])
def test_partition_is_the_sum_over_every_path(partition: object, forbidden: bool) -> None:
    emissions, lengths, chain = make(forbidden=forbidden)
    found = partition(emissions, lengths, chain)  # type: ignore[operator]
    for n, length in enumerate(LENGTHS):
        scores = torch.tensor(list(all_paths(emissions[n], length, chain).values()), dtype=torch.float64)
        assert float(found[n]) == pytest.approx(float(torch.logsumexp(scores, 0)), abs=1e-10)


@pytest.mark.parametrize("forbidden", [False, True])
def test_best_path_is_the_best_of_every_path(forbidden: bool) -> None:
    for seed in range(5):
        emissions, lengths, chain = make(seed=seed, forbidden=forbidden)
        found = crf_best_path(emissions, lengths, chain)
        for n, length in enumerate(LENGTHS):
            scores = all_paths(emissions[n], length, chain)
            assert tuple(found[n, :length].tolist()) == max(scores, key=scores.__getitem__)
            assert not found[n, length:].any()


def test_score_of_a_path_is_its_sum() -> None:
    emissions, lengths, chain = make()
    tags = torch.randint(0, K, (len(LENGTHS), max(LENGTHS)), generator=torch.Generator().manual_seed(1))
    found = crf_score(emissions, tags, lengths, chain)
    for n, length in enumerate(LENGTHS):
        expected = all_paths(emissions[n], length, chain)[tuple(tags[n, :length].tolist())]
        assert float(found[n]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_gradients_are_those_of_the_plain_recursion(scale: float) -> None:
    emissions, lengths, chain = make(seed=3, scale=scale)
    weights = torch.tensor([1.0, -0.5, 2.0, 0.25], dtype=torch.float64)
    gradients = []
    for partition in (crf_log_partition, crf_log_partition_reference):
        leaves = [x.clone().requires_grad_() for x in (emissions, *chain)]
        (partition(leaves[0], lengths, Chain(*leaves[1:])) * weights).sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    for name, fast, slow in zip(("emissions", *Chain._fields), *gradients, strict=True):
        assert_near(fast, slow, dtype=torch.float64, name=name)


def test_padding_changes_neither_loss_nor_gradient() -> None:
    emissions, lengths, chain = make(seed=5)
    tags = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
    noisy = emissions.clone()
    for n, length in enumerate(LENGTHS):
        noisy[n, length:] = 1e4
        tags[n, length:] = K - 1
    noisy.requires_grad_()
    loss = crf_loss(noisy, tags, lengths, chain)
    loss.sum().backward()
    torch.testing.assert_close(loss, crf_loss(emissions, torch.zeros_like(tags), lengths, chain), rtol=0, atol=1e-4)
    for n, length in enumerate(LENGTHS):
        assert not noisy.grad[n, length:].any()


@pytest.mark.parametrize("forbidden", [-10_000.0, -math.inf])
@pytest.mark.parametrize("nats", [50.0, 100.0, 150.0, 200.0, 300.0, 2_000.0])
def test_a_chain_that_is_very_sure_of_what_may_not_be(nats: float, forbidden: float) -> None:
    emissions, lengths, chain = make(seed=9, steps=[13, 6, 11, 1])
    emissions[:2] = -nats
    emissions[:2, ::2, 0] = emissions[:2, 1::2, 1] = nats  # two sequences insist on 0 -> 1
    chain.transitions[0, 1] = forbidden
    found = []
    for partition in (crf_log_partition, crf_log_partition_reference):
        leaves = [x.clone().requires_grad_() for x in (emissions, *chain)]
        value = partition(leaves[0], lengths, Chain(*leaves[1:]))
        value.sum().backward()
        found.append([value.detach(), *(leaf.grad for leaf in leaves)])
    for name, fast, slow in zip(("value", "emissions", *Chain._fields), *found, strict=True):
        assert_near(fast, slow, dtype=torch.float64, name=name)


@pytest.mark.parametrize("nats", [1.0, 300.0, 2_000.0])
def test_a_loss_that_is_not_checked_says_where_it_is_right(nats: float) -> None:
    emissions, lengths, chain = make(seed=9, steps=[13, 6, 11, 1])
    emissions[:2] = -nats
    emissions[:2, ::2, 0] = emissions[:2, 1::2, 1] = nats
    chain.transitions[0, 1] = -10_000.0
    tags = torch.zeros(emissions.shape[:2], dtype=torch.long)
    emissions.requires_grad_()
    loss, sound = crf_loss_unchecked(emissions, tags, lengths, chain)
    right = crf_loss(emissions, tags, lengths, chain)
    assert sound.tolist() == [nats == 1.0, nats == 1.0, True, True]
    assert torch.equal(loss[sound], right[sound])
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(emissions.grad).all()


def test_no_path_at_all_leaves_numbers_finite() -> None:
    emissions, lengths, chain = make(seed=9)
    chain.transitions.fill_(-math.inf)
    emissions.requires_grad_()
    value = crf_log_partition(emissions, lengths, chain)
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(emissions.grad).all()


def test_single_precision_is_near_the_float64_result() -> None:
    emissions, lengths, chain = make(seed=7)
    single = crf_log_partition(emissions.float(), lengths, Chain(*(x.float() for x in chain)))
    assert_near(single, crf_log_partition(emissions, lengths, chain), dtype=torch.float32, name="log-partition")
