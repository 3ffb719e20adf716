"""Momentum and steps: their meaning by hand, bad gradients, and the kernels against the float64 references."""

import importlib.util
import os

import pytest
import torch
from tests.tolerances import assert_near

from elmo.ops.momentum import nesterov, nesterov_reference, take_step, take_step_reference

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RUNS_TRITON = importlib.util.find_spec("triton") is not None and (
    DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
)
GOOD, BAD = torch.tensor(False), torch.tensor(True)


def test_the_step_looks_one_gradient_ahead():
    gradient, momentum, step = torch.tensor([[2.0, -4.0]]), torch.tensor([[8.0, 0.0]]), torch.empty(1, 1, 2)
    nesterov(gradient, momentum, step, gates=1, beta=0.5, factor=torch.tensor(0.25), bad=GOOD)
    assert momentum.tolist() == [[4.5, -1.0]]
    assert step.tolist() == [[[0.5 + 0.5 * 4.5, -1.0 - 0.5]]]


def test_steps_have_one_gate_after_the_other():
    gradient, step = torch.arange(12.0).view(1, 2, 6), torch.empty(3, 2, 2)
    nesterov(gradient, torch.zeros(1, 2, 6), step, gates=3, beta=0.0, factor=torch.tensor(1.0), bad=GOOD)
    assert step.tolist() == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    parameter = torch.ones(1, 2, 6)
    take_step(parameter, step, gates=3, keep=torch.tensor(2.0), size=torch.tensor(0.5))
    assert torch.equal(parameter, 2 - gradient / 2)


def test_bad_gradients_leave_the_momentum_and_give_no_step():
    gradient, momentum, step = torch.tensor([[torch.nan, torch.inf]]), torch.tensor([[8.0, 0.0]]), torch.ones(1, 1, 2)
    for factor in (1.0, torch.nan):
        nesterov(gradient, momentum, step, gates=1, beta=0.5, factor=torch.tensor(factor), bad=BAD)
        assert momentum.tolist() == [[8.0, 0.0]]
        assert step.tolist() == [[[0.0, 0.0]]]


NEEDS_TRITON = pytest.mark.skipif(not RUNS_TRITON, reason="there is no GPU, and Triton's interpreter is not asked for")
SHAPES = pytest.mark.parametrize(
    ("shape", "gates"), [((1, 1), 1), ((3, 5, 8), 4), ((7, 5), 1), ((2, 10, 9000), 2)], ids=str
)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


def stack_of(shape, gates, dtype, device=DEVICE):
    m, n = shape[-2], shape[-1] // gates
    return torch.zeros(torch.Size(shape).numel() // (m * n), m, n, dtype=dtype, device=device)


@pytest.mark.gpu
@NEEDS_TRITON
@DTYPES
@SHAPES
@pytest.mark.parametrize("bad", [False, True])
def test_the_kernel_of_the_momentum_equals_the_reference(shape, gates, dtype, bad):
    from elmo.ops.momentum.kernels import nesterov_in_one_pass

    generator = torch.Generator().manual_seed(len(shape))
    gradient, momentum = (torch.randn(shape, generator=generator) for _ in range(2))
    if bad:
        gradient.view(-1)[0] = torch.nan
    exact, wanted = momentum.double(), stack_of(shape, gates, torch.float64, "cpu")
    options = {"gates": gates, "beta": 0.95}
    nesterov_reference(gradient.double(), exact, wanted, factor=torch.tensor(0.3), bad=torch.tensor(bad), **options)
    ours, found = momentum.to(DEVICE), stack_of(shape, gates, dtype)
    factor, flag = torch.tensor(0.3, device=DEVICE), torch.tensor(bad, device=DEVICE)
    nesterov_in_one_pass(gradient.to(DEVICE), ours, found, factor=factor, bad=flag, **options)
    assert_near(ours, exact, dtype=torch.float32, name="momentum")
    assert_near(found, wanted, dtype=dtype, name="step")


@pytest.mark.gpu
@NEEDS_TRITON
@DTYPES
@SHAPES
def test_the_kernel_of_the_step_equals_the_reference(shape, gates, dtype):
    from elmo.ops.momentum.kernels import take_step_in_one_pass

    generator = torch.Generator().manual_seed(len(shape))
    parameter = torch.randn(shape, generator=generator)
    step = torch.randn(stack_of(shape, gates, dtype).shape, generator=generator).to(dtype)
    exact = parameter.double()
    take_step_reference(
        exact, step.double(), gates=gates, keep=torch.tensor(0.9).double(), size=torch.tensor(0.2).double()
    )
    ours, keep, size = parameter.to(DEVICE), torch.tensor(0.9, device=DEVICE), torch.tensor(0.2, device=DEVICE)
    take_step_in_one_pass(ours, step.to(DEVICE), gates=gates, keep=keep, size=size)
    assert_near(ours, exact, dtype=torch.float32, name="parameter")
