"""The sampled softmax in Triton against the float64 reference: on a GPU, or slowly in Triton's interpreter."""

import os

import pytest
import torch
from tests.tolerances import assert_near

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("there is no GPU", allow_module_level=True)

import elmo.ops.softmax.kernels as kernels  # noqa: E402
from elmo.ops.softmax import draw_log_uniform, sampled_losses, sampled_softmax_loss  # noqa: E402
from elmo.ops.softmax.cuda import sampled_softmax_cuda  # noqa: E402

pytestmark = pytest.mark.gpu
DTYPES = [torch.float32, torch.bfloat16] if DEVICE == "cuda" else [torch.float32]
NAMES = ("losses", "hidden", "weight", "bias")


def make_problem(M, S, P, V, *, dtype):
    """Every tenth target is among the samples; the logits are as far apart as those of a trained model."""
    generator = torch.Generator().manual_seed(M + S)
    hidden, weight = torch.randn(M, P, generator=generator), torch.randn(V, P, generator=generator)
    bias, corrections = 5 * torch.randn(V, generator=generator), torch.randn(S + M, generator=generator)
    ids = torch.randperm(V, generator=generator)[:S]
    targets = torch.randint(V, (M,), generator=generator)
    targets[::10] = ids[torch.randint(S, (len(targets[::10]),), generator=generator)]
    # The weight is rounded to the narrow type when it is used: what the reference reads is rounded beforehand.
    leaves = [hidden.to(DEVICE, dtype), weight.to(dtype).float().to(DEVICE), bias.to(DEVICE)]
    return [leaf.requires_grad_() for leaf in leaves], targets.to(DEVICE), ids.to(DEVICE), corrections.to(DEVICE)


def results(function, leaves, targets, ids, corrections):
    hidden, weight, bias = leaves
    losses = function(hidden, targets, weight, bias, ids, corrections)
    scale = torch.linspace(0.5, 2, len(targets), device=losses.device, dtype=losses.dtype)
    return losses, *torch.autograd.grad((losses * scale).sum(), leaves)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape", [(1, 2, 8, 5), (3, 5, 7, 9), (70, 130, 16, 300), (65, 512, 24, 600), (33, 40, 128, 40)], ids=str
)
def test_losses_and_gradients_equal_the_reference(shape, dtype):
    leaves, targets, ids, corrections = make_problem(*shape, dtype=dtype)
    ours = results(sampled_softmax_cuda, leaves, targets, ids, corrections)
    exact = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves]
    theirs = results(sampled_losses, exact, targets.cpu(), ids.cpu(), corrections.cpu().double())
    for name, value, reference in zip(NAMES, ours, theirs, strict=True):
        assert_near(value, reference, dtype=dtype, name=name)


def test_more_samples_than_a_program_holds_equal_the_reference(monkeypatch):
    monkeypatch.setattr(kernels, "ROW_BLOCK", 64)
    test_losses_and_gradients_equal_the_reference((20, 150, 16, 400), torch.float32)


def test_a_sample_that_is_the_target_counts_once():
    leaves, targets, ids, corrections = make_problem(1, 4, 8, 10, dtype=torch.float32)
    targets[0] = ids[2]
    others = ids[[0, 1, 3]]
    _, _, dweight, dbias = results(sampled_softmax_cuda, leaves, targets, ids, corrections)
    assert (dbias[others] > 0).all()
    assert dbias[ids[2]] < 0  # as the target alone
    assert float(dbias.sum()) == pytest.approx(0, abs=1e-6)
    unseen = torch.ones(10, dtype=torch.bool)
    unseen[ids.cpu()] = False
    assert (dweight.cpu()[unseen] == 0).all()


def test_gradients_are_the_same_in_every_run():
    problem = make_problem(500, 60, 16, 90, dtype=torch.float32)
    first, second = results(sampled_softmax_cuda, *problem), results(sampled_softmax_cuda, *problem)
    for name, one, other in zip(NAMES, first, second, strict=True):
        assert torch.equal(one, other), name


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_the_whole_loss_under_autocast_equals_the_float64_one():
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
