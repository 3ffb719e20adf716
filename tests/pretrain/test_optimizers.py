"""Optimizers: Adagrad as TensorFlow defines it, AdamW as torch does, and neither moves when the gradients are bad."""

import math

import pytest
import torch
from torch import nn

from elmo.errors import ConfigError, ResumeError
from elmo.pretrain.gradients import Gradients, clip_factor
from elmo.pretrain.optimizers import AdagradConfig, AdamConfig, make_optimizer

GOOD, BAD = torch.tensor(False), torch.tensor(True)
CONFIGS = [AdagradConfig(), AdamConfig(weight_decay=0.1)]


def parameters():
    generator = torch.Generator().manual_seed(0)
    return {
        "matrix": nn.Parameter(torch.randn(3, 4, generator=generator)),
        "bias": nn.Parameter(torch.randn(4, generator=generator)),
    }


def run(made, optimizer, steps, *, bad=GOOD):
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        for p in made.values():
            p.grad = torch.randn(p.shape, generator=generator)
        optimizer.update(0.1, bad)


def test_adagrad_is_tensorflows():
    made = parameters()
    optimizer = make_optimizer(made, AdagradConfig(initial_accumulator=0.5))
    value, accumulator = made["bias"][0].item(), 0.5
    for gradient in (0.3, -2.0, 0.0):
        for p in made.values():
            p.grad = torch.full_like(p, gradient)
        optimizer.update(0.2, GOOD)
        accumulator += gradient**2
        value -= 0.2 * gradient / math.sqrt(accumulator)
    assert made["bias"][0].item() == pytest.approx(value, rel=1e-6)


def test_adam_is_torchs_adamw_with_decay_on_matrices_only():
    made, theirs = parameters(), parameters()
    run(made, make_optimizer(made, AdamConfig(beta2=0.95, weight_decay=0.1)), 3)
    reference = torch.optim.AdamW(
        [{"params": [theirs["matrix"]]}, {"params": [theirs["bias"]], "weight_decay": 0.0}],
        lr=0.1,
        betas=(0.9, 0.95),
        weight_decay=0.1,
    )
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        for p in theirs.values():
            p.grad = torch.randn(p.shape, generator=generator)
        reference.step()
    for name, p in made.items():
        torch.testing.assert_close(p, theirs[name])


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_bad_gradients_change_nothing(config):
    made = parameters()
    optimizer = make_optimizer(made, config)
    run(made, optimizer, 2)
    before = {name: p.detach().clone() for name, p in made.items()}
    state = {name: tensor.clone() for name, tensor in optimizer.tensors().items()}
    for p in made.values():
        p.grad = torch.full_like(p, math.nan)
    optimizer.update(0.1, BAD)
    for name, p in made.items():
        assert torch.equal(p, before[name])
    for name, tensor in optimizer.tensors().items():
        assert torch.equal(tensor, state[name])


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_loaded_state_goes_on_as_if_nothing_had_happened(config):
    straight = parameters()
    optimizer = make_optimizer(straight, config)
    run(straight, optimizer, 2)
    other = {name: nn.Parameter(p.detach().clone()) for name, p in straight.items()}
    resumed = make_optimizer(other, config)
    resumed.load({name: tensor.clone() for name, tensor in optimizer.tensors().items()})
    run(straight, optimizer, 2)
    run(other, resumed, 2)
    for name, p in straight.items():
        assert torch.equal(p, other[name])


def test_a_state_of_another_optimizer_is_refused():
    made = parameters()
    with pytest.raises(ResumeError, match=r"accumulator\.matrix"):
        make_optimizer(made, AdagradConfig()).load(make_optimizer(made, AdamConfig()).tensors())


def test_a_state_of_another_shape_is_refused():
    made = parameters()
    optimizer = make_optimizer(made, AdagradConfig())
    wrong = {**optimizer.tensors(), "accumulator.bias": torch.ones(5)}
    with pytest.raises(ResumeError, match=r"\[5\], but the model wants \[4\]"):
        optimizer.load(wrong)


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        (AdagradConfig, "rate", 0.0),
        (AdagradConfig, "initial_accumulator", -1.0),
        (AdamConfig, "epsilon", 0.0),
        (AdamConfig, "beta2", 1.0),
        (AdamConfig, "weight_decay", -0.1),
    ],
)
def test_impossible_values_are_refused(config, field, value):
    with pytest.raises(ConfigError, match=field):
        config(**{field: value})


def test_gradients_are_measured_together_and_forgotten():
    made = parameters()
    gradients = Gradients(made.values())
    (made["matrix"].sum() * 3 + made["bias"].sum() * 4).backward()
    norm = gradients.norm()
    assert float(norm) == pytest.approx(math.sqrt(12 * 9 + 4 * 16))
    assert float(clip_factor(norm, 1.0)) == pytest.approx(1 / float(norm))
    assert float(clip_factor(norm, 100.0)) == 1.0
    gradients.forget()
    made["bias"].sum().backward()
    assert [float(g.abs().sum()) for g in gradients.tensors] == [0.0, 4.0]  # a parameter that was not used


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_a_factor_scales_the_gradients(config):
    one, other = parameters(), parameters()
    by_factor, by_hand = make_optimizer(one, config), make_optimizer(other, config)
    generator = torch.Generator().manual_seed(2)
    for factor in (0.25, 1.0, 0.01):
        for p, q in zip(one.values(), other.values(), strict=True):
            p.grad = torch.randn(p.shape, generator=generator)
            q.grad = p.grad * factor
        by_factor.update(0.1, GOOD, torch.tensor(factor))
        by_hand.update(0.1, GOOD)
    for name, p in one.items():
        torch.testing.assert_close(p, other[name])


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)
def test_a_factor_that_is_no_number_changes_nothing_where_the_gradients_are_bad(config):
    made = parameters()
    optimizer = make_optimizer(made, config)
    run(made, optimizer, 1)
    before = {name: p.detach().clone() for name, p in made.items()}
    for p in made.values():
        p.grad = torch.full_like(p, math.inf)
    optimizer.update(0.1, BAD, torch.tensor(math.nan))
    for name, p in made.items():
        assert torch.equal(p, before[name])
