"""The softmax losses: the sampled one against the full one, and the sampler against its stated probabilities."""

import math

import pytest
import torch
import torch.nn.functional as F
from tests.tolerances import assert_near

from elmo.ops.softmax import (
    Samples,
    draw_log_uniform,
    full_softmax_loss,
    full_softmax_loss_blocked,
    full_softmax_loss_chunked,
    log_expected_count,
    race_threshold,
    sampled_softmax_loss,
)

M, P, V = 33, 8, 50


def problem(dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(M, P, generator=generator, dtype=dtype, requires_grad=True)
    weight = torch.randn(V, P, generator=generator, dtype=dtype, requires_grad=True)
    bias = torch.randn(V, generator=generator, dtype=dtype, requires_grad=True)
    targets = torch.randint(V, (M,), generator=generator)
    return hidden, targets, weight, bias


def loss_and_gradients(function, *arguments):
    hidden, targets, weight, bias, *rest = arguments
    scale = torch.linspace(0.5, 2, len(targets), dtype=hidden.dtype)
    losses = function(hidden, targets, weight, bias, *rest)
    return losses, *torch.autograd.grad((losses * scale).sum(), (hidden, weight, bias))


def test_full_loss_is_the_negative_log_probability():
    hidden, targets, weight, bias = problem()
    by_hand = [-torch.log_softmax(weight @ h + bias, 0)[t] for h, t in zip(hidden, targets, strict=True)]
    torch.testing.assert_close(full_softmax_loss(hidden, targets, weight, bias), torch.stack(by_hand))


@pytest.mark.parametrize("chunk", [1, 3 * V, 1 << 24])
def test_chunked_loss_equals_the_full_one_with_its_gradients(chunk):
    def chunked(*arguments):
        return full_softmax_loss_chunked(*arguments, chunk_elements=chunk)

    for ours, theirs in zip(
        loss_and_gradients(chunked, *problem()), loss_and_gradients(full_softmax_loss, *problem()), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_chunked_loss_never_holds_all_logits(monkeypatch):
    sizes = []
    real = F.cross_entropy

    def watched(logits, *arguments, **options):
        sizes.append(logits.numel())
        return real(logits, *arguments, **options)

    monkeypatch.setattr(F, "cross_entropy", watched)
    with torch.no_grad():
        full_softmax_loss_chunked(*problem(), chunk_elements=4 * V)
    assert max(sizes) == 4 * V
    assert sum(sizes) == M * V


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("rows", "classes"), [(1, 1), (8, 7), (33, 50), (1024, 512)])
def test_blocked_loss_equals_the_full_one(rows, classes, dtype):
    hidden, targets, weight, bias = (x.detach() for x in problem())
    given = (hidden.to(dtype), targets, weight.to(dtype), bias.to(dtype))
    ours = full_softmax_loss_blocked(*given, rows=rows, classes=classes)
    assert ours.dtype == dtype
    assert_near(ours, full_softmax_loss(hidden, targets, weight, bias), dtype=dtype, name="losses")


def test_blocked_loss_of_what_is_sure_is_not_negative():
    hidden, targets, weight, bias = (x.detach().float() for x in problem())
    sure = full_softmax_loss_blocked(100 * weight, torch.arange(V), weight, bias, classes=7)
    assert sure.min() >= 0
    assert full_softmax_loss_blocked(hidden[:0], targets[:0].long(), weight, bias).shape == (0,)


def test_blocked_loss_never_holds_all_logits(monkeypatch):
    sizes = []
    real = torch.logsumexp

    def watched(logits, dim):
        sizes.append(logits.numel())
        return real(logits, dim)

    monkeypatch.setattr(torch, "logsumexp", watched)
    full_softmax_loss_blocked(*problem(), rows=8, classes=16)
    assert max(sizes) == 8 * 16


def test_sampled_loss_with_every_class_is_the_full_loss():
    ours = loss_and_gradients(sampled_softmax_loss, *problem(), Samples(torch.arange(V), math.inf, V))
    for ours_one, theirs_one in zip(ours, loss_and_gradients(full_softmax_loss, *problem()), strict=True):
        torch.testing.assert_close(ours_one, theirs_one, rtol=1e-6, atol=1e-6)


def test_drawing_every_class_is_the_full_loss_too():
    samples = draw_log_uniform(V, V, generator=torch.Generator().manual_seed(3))
    assert sorted(samples.ids.tolist()) == list(range(V))
    ours = loss_and_gradients(sampled_softmax_loss, *problem(), samples)
    for ours_one, theirs_one in zip(ours, loss_and_gradients(full_softmax_loss, *problem()), strict=True):
        torch.testing.assert_close(ours_one, theirs_one, rtol=1e-6, atol=1e-6)


def test_sampled_loss_follows_its_definition():
    hidden, targets, weight, bias = problem()
    samples = draw_log_uniform(10, V, generator=torch.Generator().manual_seed(4))
    counts = log_expected_count(torch.arange(V), samples).double()
    losses = sampled_softmax_loss(hidden, targets, weight, bias, samples)
    assert any(int(t) in samples.ids.tolist() for t in targets)  # an accidental hit is part of the case
    for h, t, loss in zip(hidden, targets.tolist(), losses, strict=True):
        classes = [t] + [k for k in samples.ids.tolist() if k != t]
        logits = torch.stack([weight[k] @ h + bias[k] - counts[k] for k in classes])
        torch.testing.assert_close(loss, torch.logsumexp(logits, 0) - logits[0])


def test_a_position_whose_only_sample_is_its_target_has_no_loss():
    hidden, _, weight, bias = problem()
    samples = Samples(torch.tensor([7]), race_threshold(1, V), V)
    losses = sampled_softmax_loss(hidden[:1], torch.tensor([7]), weight, bias, samples)
    assert losses.item() == 0
    (gradient,) = torch.autograd.grad(losses.sum(), weight)
    assert torch.isfinite(gradient).all()


@torch.no_grad()
def test_bias_of_the_sampled_loss_shrinks_with_more_samples():
    hidden, targets, weight, bias = problem()
    full = full_softmax_loss(hidden, targets, weight, bias).mean()
    generator = torch.Generator().manual_seed(5)
    biases = []
    for count in (2, 5, 15, 40, 50):
        draws = [
            sampled_softmax_loss(hidden, targets, weight, bias, draw_log_uniform(count, V, generator=generator)).mean()
            for _ in range(200)
        ]
        biases.append(abs(float(torch.stack(draws).mean() - full)))
    assert biases == sorted(biases, reverse=True)
    assert biases[-1] < 1e-6


def test_samples_are_different_and_drawn_with_the_stated_probability():
    generator = torch.Generator().manual_seed(6)
    count, rounds = 12, 2000
    frequency = torch.zeros(V)
    for _ in range(rounds):
        samples = draw_log_uniform(count, V, generator=generator)
        assert len(set(samples.ids.tolist())) == count
        frequency[samples.ids] += 1 / rounds
    stated = log_expected_count(torch.arange(V), samples).exp()
    assert float(stated.sum()) == pytest.approx(count, rel=1e-4)
    # Four deviations of the estimate, and one percent for the stated probability's being asymptotic.
    allowed = 4 * (stated * (1 - stated) / rounds).sqrt() + 0.01
    assert ((frequency - stated).abs() < allowed).all()


def test_samples_by_rank_are_those_of_classes_that_stand_in_that_order():
    ranks = torch.randperm(V, generator=torch.Generator().manual_seed(7))
    order = ranks.argsort()  # the class of each rank
    plain = draw_log_uniform(12, V, generator=torch.Generator().manual_seed(6))
    ranked = Samples(order[plain.ids], plain.threshold, V, ranks)
    hidden, targets, weight, bias = problem()
    losses = sampled_softmax_loss(hidden, targets, weight, bias, ranked)
    expected = sampled_softmax_loss(hidden, ranks[targets], weight[order], bias[order], plain)
    torch.testing.assert_close(losses, expected)


def test_a_class_of_a_high_rank_is_drawn_often_wherever_it_stands():
    ranks = torch.arange(V).flip(0)  # the last class is the most frequent
    generator = torch.Generator().manual_seed(6)
    rounds, frequency = 2000, torch.zeros(V)
    for _ in range(rounds):
        frequency[draw_log_uniform(5, V, generator=generator, ranks=ranks).ids] += 1 / rounds
    stated = log_expected_count(torch.arange(V), draw_log_uniform(5, V, generator=generator, ranks=ranks)).exp()
    assert int(stated.argmax()) == V - 1
    # Four deviations of the estimate, and two percent for the stated probability's being asymptotic.
    assert ((frequency - stated).abs() < 4 * (stated * (1 - stated) / rounds).sqrt() + 0.02).all()


def test_log_uniform_probabilities_are_tensorflows():
    samples = Samples(torch.arange(V), 1e-3, V)
    p = log_expected_count(torch.arange(V), samples).double().exp() / 1e-3  # 1 - exp(-x) is x for small x
    expected = torch.tensor([(math.log(k + 2) - math.log(k + 1)) / math.log(V + 1) for k in range(V)]).double()
    torch.testing.assert_close(p, expected, rtol=1e-3, atol=0)
    assert float(expected.sum()) == pytest.approx(1)


def test_same_generator_state_draws_the_same_samples():
    first = draw_log_uniform(9, V, generator=torch.Generator().manual_seed(8))
    second = draw_log_uniform(9, V, generator=torch.Generator().manual_seed(8))
    other = draw_log_uniform(9, V, generator=torch.Generator().manual_seed(9))
    assert first.ids.tolist() == second.ids.tolist() != other.ids.tolist()


@pytest.mark.parametrize("count", [0, V + 1])
def test_impossible_sample_counts_are_refused(count):
    with pytest.raises(ValueError, match=f"1 to {V}"):
        draw_log_uniform(count, V, generator=torch.Generator())
