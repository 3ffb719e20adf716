"""The highway layer: its meaning by hand, types under autocast, and the kernels against the float64 reference."""

import importlib.util
import os

import pytest
import torch
from tests.tolerances import assert_near

from elmo.ops.highway import highway, highway_reference

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RUNS_TRITON = importlib.util.find_spec("triton") is not None and (
    DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
)
DTYPES = [torch.float32, torch.bfloat16] if DEVICE == "cuda" else [torch.float32]
NAMES = ("y", "x", "weight_carry", "bias_carry", "weight_transform", "bias_transform")


def make_problem(W, F, *, dtype=torch.float64, device="cpu"):
    generator = torch.Generator().manual_seed(W + F)
    shapes = ((W, F), (F, F), (F,), (F, F), (F,))
    made = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [(t * (F**-0.5 if t.shape == (F, F) else 1)).to(device, dtype).requires_grad_() for t in made]


def results(function, leaves):
    y = function(*leaves)
    return y, *torch.autograd.grad(
        y, leaves, torch.linspace(-1, 2, y.numel(), device=y.device, dtype=y.dtype).view_as(y)
    )


def test_a_number_is_carried_or_transformed_as_the_gate_says():
    x = torch.tensor([[2.0, -3.0]], dtype=torch.float64)
    carry, transform = torch.zeros(2, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    half = torch.zeros(2, dtype=torch.float64)
    found = highway_reference(x, carry, half, 3 * transform, half + 1)
    assert found.tolist() == [[0.5 * 7 + 0.5 * 2, 0.5 * 0 - 0.5 * 3]]
    closed = highway_reference(x, carry, half - 100, 3 * transform, half)
    torch.testing.assert_close(closed, x)


def test_float64_goes_through_the_reference():
    leaves = make_problem(3, 4)
    for ours, theirs in zip(results(highway, leaves), results(highway_reference, leaves), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.gpu
@pytest.mark.skipif(not RUNS_TRITON, reason="there is no GPU, and Triton's interpreter is not asked for")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
# With many terms and few rows cuBLAS adds partial sums in bfloat16, which is beyond our control: 1100 has 300 rows.
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 64), (300, 1100)], ids=str)
def test_the_kernels_equal_the_reference(shape, dtype):
    from elmo.ops.highway.cuda import highway_cuda

    leaves = make_problem(*shape, dtype=dtype, device=DEVICE)
    exact = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves]
    for name, value, reference in zip(
        NAMES, results(highway_cuda, leaves), results(highway_reference, exact), strict=True
    ):
        assert_near(value, reference, dtype=dtype, name=name)


@pytest.mark.gpu
@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_wide_weights_get_wide_gradients():
    leaves = make_problem(64, 32, dtype=torch.float32, device=DEVICE)
    with torch.autocast("cuda", torch.bfloat16):
        ours = results(highway, leaves)
    exact = [leaf.detach().cpu().to(torch.bfloat16).double().requires_grad_() for leaf in leaves]
    for name, value, reference in zip(NAMES, ours, results(highway_reference, exact), strict=True):
        assert value.dtype == (torch.bfloat16 if name == "y" else torch.float32)
        assert_near(value, reference, dtype=torch.bfloat16, name=name)
