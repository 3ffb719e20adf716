"""Optimizers: Adagrad as TensorFlow defines it, AdamW as torch does, Muon as a plain loop does."""

import math
from typing import get_args

import pytest
import torch
from tests.tolerances import TOLERANCE, assert_near
from torch import nn

from elmo.errors import ConfigError
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model
from elmo.pretrain.step.gradients import Gradients, clip_factor
from elmo.pretrain.step.optimizers import AdagradConfig, AdamConfig, MuonConfig, OptimizerConfig, make_optimizer
from elmo.pretrain.step.optimizers.muon import ROUNDS, gates_of, is_weight_matrix, orthogonal

GOOD, BAD = torch.tensor(False), torch.tensor(True)
CONFIGS = [AdagradConfig(), AdamConfig(weight_decay=0.1), MuonConfig(weight_decay=0.1)]


def test_every_optimizer_is_tested():
    assert {type(config) for config in CONFIGS} == set(get_args(OptimizerConfig))


def parameters():
    generator = torch.Generator().manual_seed(0)
    return {
        "matrix": nn.Parameter(torch.randn(3, 4, generator=generator)),
        "lstm.weight_h": nn.Parameter(torch.randn(2, 3, 16, generator=generator)),
        "lstm.weight_projection": nn.Parameter(torch.randn(2, 4, 3, generator=generator)),
        "highway.weight_carry": nn.Parameter(torch.randn(1, 12, 12, generator=generator)),
        "bias": nn.Parameter(torch.randn(4, generator=generator)),
        "lstm.bias": nn.Parameter(torch.randn(2, 16, generator=generator)),
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
        [
            {"params": [p for name, p in theirs.items() if "bias" not in name]},
            {"params": [theirs["bias"], theirs["lstm.bias"]], "weight_decay": 0.0},
        ],
        lr=0.1,
        betas=(0.9, 0.95),
        eps=1e-6,
        weight_decay=0.1,
    )
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        for p in theirs.values():
            p.grad = torch.randn(p.shape, generator=generator)
        reference.step()
    for name, p in made.items():
        torch.testing.assert_close(p, theirs[name])


def orthogonal_by_hand(matrix):
    """One matrix in float64 by its singular values: over a bound of the largest of them, through the polynomials."""
    u, values, vt = torch.linalg.svd(matrix.double(), full_matrices=False)
    values = values / (1.02 * values.pow(4).sum().sqrt()).sqrt()
    for a, b, c in ROUNDS:
        values = a * values + b * values**3 + c * values**5
    return u @ values.diag() @ vt


def muon_by_hand(weights, gradients, *, gates, rate, config):
    """One matrix after the other in float64: momentum, singular values through the polynomial, scale, decay."""
    momentum = torch.zeros_like(weights, dtype=torch.float64)
    weights = weights.double()
    for gradient in gradients:
        momentum = config.momentum * momentum + gradient.double()
        wanted = gradient.double() + config.momentum * momentum
        for direction in range(len(weights)):
            for gate, block in enumerate(wanted[direction].chunk(gates, dim=1)):
                step = orthogonal_by_hand(block) * config.matrix_scale * math.sqrt(max(block.shape))
                size = block.shape[1]
                own = weights[direction][:, gate * size : (gate + 1) * size]
                own.mul_(1 - rate * config.weight_decay).sub_(rate * step)
    return weights


@pytest.mark.parametrize(
    ("name", "gates"), [("lstm.weight_h", 4), ("lstm.weight_projection", 1), ("highway.weight_carry", 4)]
)
def test_muon_is_what_a_plain_loop_over_matrices_gives(name, gates):
    made, config = parameters(), MuonConfig(weight_decay=0.1, matrix_scale=0.3, momentum=0.8)
    before = made[name].detach().clone()
    optimizer = make_optimizer(made, config)
    gradients = []
    generator = torch.Generator().manual_seed(3)
    for _ in range(4):
        for p in made.values():
            p.grad = torch.randn(p.shape, generator=generator)
        gradients.append(made[name].grad.clone())
        optimizer.update(0.1, GOOD)
    wanted = muon_by_hand(before, gradients, gates=gates, rate=0.1, config=config)
    assert_near(made[name], wanted, dtype=torch.float32, name=name)


def test_muon_leaves_tables_softmax_and_biases_to_adam_without_decay():
    made, theirs = parameters(), parameters()
    run(made, make_optimizer(made, MuonConfig(weight_decay=0.1)), 3)
    run(theirs, make_optimizer(theirs, AdamConfig(weight_decay=0.0)), 3)
    assert [name for name, p in made.items() if torch.equal(p, theirs[name])] == ["matrix", "bias", "lstm.bias"]
    model = new_model(TrainConfig(size="tiny"), vocabulary=50)
    assert [name for name, _ in model.named_parameters() if is_weight_matrix(name)] == [
        "bilm.tokens.weight_projection",
        "bilm.tokens.highways.0.weight_carry",
        "bilm.tokens.highways.0.weight_transform",
        *(f"bilm.lstm.layers.{n}.weight_{kind}" for n in (0, 1) for kind in ("x", "h", "projection")),
    ]


def with_singular_values(values, m, n, *, seed):
    """A matrix m x n with these."""
    generator = torch.Generator().manual_seed(seed)
    u, v = (
        torch.linalg.qr(torch.randn(side, len(values), dtype=torch.float64, generator=generator)).Q for side in (m, n)
    )
    return (u * values) @ v.mT


def test_singular_values_come_near_one_and_directions_stay():
    values = torch.logspace(0, -2, 8, dtype=torch.float64)
    lying = torch.stack([with_singular_values(values * size, 8, 20, seed=4) for size in (1e-5, 1.0, 1e4)])
    standing = with_singular_values(values.flip(0), 30, 8, seed=5)[None]
    for matrices, made in zip((lying, standing), orthogonal([lying, standing]), strict=True):
        assert torch.linalg.svdvals(made).min() > 0.76
        assert torch.linalg.svdvals(made).max() < 1.25
        for matrix, found in zip(matrices, made, strict=True):
            torch.testing.assert_close(found, orthogonal_by_hand(matrix), rtol=1e-3, atol=1e-3)  # TINY is in the first
    assert torch.equal(orthogonal([torch.zeros(1, 2, 3)])[0], torch.zeros(1, 2, 3))


CUDA = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")],
)


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize("shape", [(64, 256), (256, 64), (64, 64)], ids=str)
@pytest.mark.parametrize("decades", [0.5, 2.0, 3.5])
def test_orthogonal_in_bfloat16_keeps_its_singular_values_in_bounds(shape, decades, device):
    values = torch.logspace(0, -decades, 64, dtype=torch.float64)
    matrix = with_singular_values(values * 3e-4, *shape, seed=6).to(torch.bfloat16)
    made = orthogonal([matrix[None].to(device)])[0].cpu()
    assert made.dtype == torch.bfloat16
    wanted = orthogonal_by_hand(matrix)
    assert torch.linalg.svdvals(made[0].double()).max() < 1.3  # beyond the bound of a round they would explode
    # What rounding takes from the smallest values cannot be had back, so that a wide range is farther off.
    error = float(torch.linalg.matrix_norm(made[0].double() - wanted) / torch.linalg.matrix_norm(wanted))
    assert error < (TOLERANCE[torch.bfloat16] if decades < 2 else 0.05)


def test_the_parts_of_a_parameter_divide_it():
    assert gates_of("lstm.layers.0.weight_x", torch.empty(1, 2, 12)) == 4
    assert [gates_of("highways.0.weight_carry", torch.empty(n, n)) for n in (12, 6, 5)] == [4, 2, 1]
    assert gates_of("tokens.weight_projection", torch.empty(8, 4)) == 1


def test_muon_without_matrices_is_adam():
    made = {"head.weight": nn.Parameter(torch.ones(2, 2))}
    optimizer = make_optimizer(made, MuonConfig())
    run(made, optimizer, 1)
    assert "exp_avg.head.weight" in optimizer.tensors()


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
    for name, tensor in resumed.tensors().items():
        tensor.copy_(optimizer.tensors()[name])
    run(straight, optimizer, 2)
    run(other, resumed, 2)
    for name, p in straight.items():
        assert torch.equal(p, other[name])


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        (AdagradConfig, "learning_rate", 0.0),
        (AdagradConfig, "initial_accumulator", -1.0),
        (AdamConfig, "epsilon", 0.0),
        (AdamConfig, "beta2", 1.0),
        (AdamConfig, "weight_decay", -0.1),
        (MuonConfig, "weight_decay", -0.1),
        (MuonConfig, "matrix_scale", 0.0),
        (MuonConfig, "momentum", 1.0),
        (MuonConfig, "beta2", 1.0),
        (MuonConfig, "learning_rate", -1.0),
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
    assert [float(g.abs().sum()) for g in gradients.tensors] == [0.0, 0.0, 0.0, 0.0, 4.0, 0.0]  # others were not used


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
