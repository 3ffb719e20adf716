"""The sampled softmax in Triton against the float64 reference: on a GPU, or slowly in Triton's interpreter."""

import os

import pytest
import torch
from tests.tolerances import assert_near

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("there is no GPU", allow_module_level=True)

from elmo.ops.softmax import sampled_losses  # noqa: E402
from elmo.ops.softmax_cuda import sampled_losses_cuda  # noqa: E402

pytestmark = pytest.mark.gpu
DTYPES = [torch.float32, torch.bfloat16] if DEVICE == "cuda" else [torch.float32]
NAMES = ("hidden", "rows", "offsets", "true")


def make_problem(
    M: int, S: int, P: int, *, dtype: torch.dtype
) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """Every tenth target is among the samples; the logits are as far apart as those of a trained model."""
    generator = torch.Generator().manual_seed(M + S)
    hidden, rows = torch.randn(M, P, generator=generator), torch.randn(S, P, generator=generator)
    offsets, true = 5 * torch.randn(S, generator=generator), 5 * torch.randn(M, generator=generator)
    ids = torch.randperm(3 * S, generator=generator)[:S]
    targets = torch.randint(3 * S, (M,), generator=generator)
    targets[::10] = ids[torch.randint(S, (len(targets[::10]),), generator=generator)]
    leaves = [hidden.to(DEVICE, dtype), rows.to(DEVICE, dtype), offsets.to(DEVICE), true.to(DEVICE)]
    return [leaf.requires_grad_() for leaf in leaves], ids.to(DEVICE), targets.to(DEVICE)


def results(function, leaves, ids, targets):
    losses = function(*leaves, ids, targets)
    scale = torch.linspace(0.5, 2, len(targets), device=losses.device, dtype=losses.dtype)
    return losses, *torch.autograd.grad((losses * scale).sum(), leaves)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (3, 5, 8), (70, 130, 16), (65, 2048, 16), (10, 2500, 24)], ids=str)
def test_losses_and_gradients_equal_the_reference(shape, dtype):
    leaves, ids, targets = make_problem(*shape, dtype=dtype)
    ours = results(sampled_losses_cuda, leaves, ids, targets)
    exact = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves]
    theirs = results(sampled_losses, exact, ids.cpu(), targets.cpu())
    for name, value, reference in zip(("losses", *NAMES), ours, theirs, strict=True):
        assert_near(value, reference, dtype=dtype, name=name)


def test_a_sample_that_is_the_target_gets_no_gradient():
    leaves, ids, targets = make_problem(1, 4, 8, dtype=torch.float32)
    targets[0] = ids[2]
    _, _, drows, doffsets, _ = results(sampled_losses_cuda, leaves, ids, targets)
    assert doffsets[2] == 0
    assert (drows[2] == 0).all()
    assert (doffsets[[0, 1, 3]] > 0).all()


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_the_whole_loss_under_autocast_equals_the_float64_one():
    from elmo.ops.softmax import draw_log_uniform, sampled_softmax_loss

    generator = torch.Generator().manual_seed(5)
    exact = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((300, 64), (2000, 64), (2000,))]
    targets = torch.randint(2000, (300,), generator=generator)
    samples = draw_log_uniform(256, 2000, generator=generator)

    def everything(leaves, device):
        hidden, weight, bias = (leaf.requires_grad_() for leaf in leaves)
        own = samples._replace(ids=samples.ids.to(device))
        losses = sampled_softmax_loss(hidden, targets.to(device), weight, bias, own)
        return losses, *torch.autograd.grad(losses.sum(), (hidden, weight, bias))

    with torch.autocast("cuda", torch.bfloat16):
        ours = everything([leaf.to("cuda", torch.float32) for leaf in exact], "cuda")
    theirs = everything([leaf.to(torch.bfloat16).double() for leaf in exact], "cpu")
    for name, value, reference in zip(("losses", "hidden", "weight", "bias"), ours, theirs, strict=True):
        assert_near(value, reference, dtype=torch.bfloat16, name=name)
