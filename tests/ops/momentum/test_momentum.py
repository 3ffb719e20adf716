"""Momentum: its meaning by hand, bad gradients, and the kernel against the float64 reference."""

import importlib.util
import os

import pytest
import torch
from tests.tolerances import assert_near

from elmo.ops.momentum import nesterov, nesterov_reference

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RUNS_TRITON = importlib.util.find_spec("triton") is not None and (
    DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
)
GOOD, BAD = torch.tensor(False), torch.tensor(True)


def test_the_step_looks_one_gradient_ahead():
    gradient, momentum = torch.tensor([2.0, -4.0]), torch.tensor([8.0, 0.0])
    step = nesterov(gradient, momentum, beta=0.5, factor=torch.tensor(0.25), bad=GOOD, dtype=torch.float32)
    assert momentum.tolist() == [4.5, -1.0]
    assert step.tolist() == [0.5 + 0.5 * 4.5, -1.0 - 0.5]


def test_bad_gradients_leave_the_momentum_and_give_no_step():
    gradient, momentum = torch.tensor([torch.nan, torch.inf]), torch.tensor([8.0, 0.0])
    for factor in (1.0, torch.nan):
        step = nesterov(gradient, momentum, beta=0.5, factor=torch.tensor(factor), bad=BAD, dtype=torch.float32)
        assert momentum.tolist() == [8.0, 0.0]
        assert step.tolist() == [0.0, 0.0]


@pytest.mark.gpu
@pytest.mark.skipif(not RUNS_TRITON, reason="there is no GPU, and Triton's interpreter is not asked for")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(1,), (3, 5, 7), (2, 100, 4096)], ids=str)
@pytest.mark.parametrize("bad", [False, True])
def test_the_kernel_equals_the_reference(shape, dtype, bad):
    from elmo.ops.momentum.kernels import nesterov_in_one_pass

    generator = torch.Generator().manual_seed(len(shape))
    gradient, momentum = (torch.randn(shape, generator=generator) for _ in range(2))
    if bad:
        gradient.view(-1)[0] = torch.nan
    exact = momentum.double()
    wanted = nesterov_reference(
        gradient.double(), exact, beta=0.95, factor=torch.tensor(0.3), bad=torch.tensor(bad), dtype=torch.float64
    )
    ours = momentum.to(DEVICE)
    found = nesterov_in_one_pass(
        gradient.to(DEVICE),
        ours,
        beta=0.95,
        factor=torch.tensor(0.3, device=DEVICE),
        bad=torch.tensor(bad, device=DEVICE),
        dtype=dtype,
    )
    assert found.dtype == dtype
    assert_near(ours, exact, dtype=torch.float32, name="momentum")
    assert_near(found, wanted, dtype=dtype, name="step")
