"""The projected LSTM: the reference by numerical gradients, the fast versions against the reference in float64."""

from dataclasses import replace

import pytest
import torch
from tests.ops.lstmp.problem import (
    Inputs,
    Problem,
    assert_equals_reference,
    clipped_share,
    make_inputs,
    results,
)
from tests.tolerances import assert_near
from torch import Tensor

from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp, lstmp_reference

CLIPPING = Problem(T=20, B=17, D=16, H=40, P=24, cell_clip=0.8, projection_clip=0.6, scale=3.0)
VARIANTS = {
    "plain": Problem(),
    "clips": Problem(cell_clip=0.7, projection_clip=0.5),
    "no projection": Problem(P=None),
    "no projection, clips": Problem(P=None, cell_clip=0.7, projection_clip=0.5),
    "lengths": Problem(B=5, T=4, lengths=(4, 3, 3, 1, 0), cell_clip=0.7, projection_clip=0.5),
    "lengths, no projection": Problem(B=5, T=4, lengths=(4, 3, 3, 1, 0), P=None),
    "all rows end early": Problem(B=2, T=4, lengths=(2, 1)),
    "one direction": Problem(R=1),
}


@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS.keys())
def test_numerical_gradients_agree_with_the_reference(p: Problem) -> None:
    inputs = make_inputs(p, dtype=torch.float64)
    leaves = [None if t is None else t.requires_grad_() for t in inputs[:7]]

    def run(x: Tensor, h0: Tensor, c0: Tensor, *weights: Tensor | None) -> tuple[Tensor, ...]:
        y, state = lstmp_reference(
            x,
            LSTMPState(h0, c0),
            LSTMPWeights(*weights),
            lengths=None if p.lengths is None else torch.tensor(p.lengths),
            cell_clip=p.cell_clip,
            projection_clip=p.projection_clip,
        )
        return y, *state

    assert torch.autograd.gradcheck(run, leaves, fast_mode=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS.keys())
def test_training_equals_the_reference(p: Problem, dtype: torch.dtype) -> None:
    assert_equals_reference(lstmp, p, dtype=dtype)


@pytest.mark.parametrize("T", [1, 2, 20])
@pytest.mark.parametrize("B", [1, 3, 17, 128])
def test_training_equals_the_reference_at_every_size(B: int, T: int) -> None:
    p = Problem(T=T, B=B, D=16, H=33, P=8, cell_clip=3.0, projection_clip=3.0)
    assert_equals_reference(lstmp, p, dtype=torch.float64)
    assert_equals_reference(lstmp, p, dtype=torch.float32)


@pytest.mark.parametrize("margins", [False, True])
def test_clips_that_fire_often_pass_no_gradient(margins: bool) -> None:
    p = replace(CLIPPING, margins=margins)
    cells, outputs = clipped_share(p, make_inputs(p, dtype=torch.float64))
    assert 0.05 < cells < 0.95
    assert 0.05 < outputs < 0.95
    assert_equals_reference(lstmp, p, dtype=torch.float64)
    assert_equals_reference(lstmp, p, dtype=torch.float32)


@pytest.mark.parametrize("run", [lstmp, lstmp_reference], ids=["training", "reference"])
@pytest.mark.parametrize(("beyond", "gradient"), [(0.0, 1.0), (0.25, 0.0)])
def test_a_value_exactly_at_its_clip_passes_its_gradient(run: object, beyond: float, gradient: float) -> None:
    assert callable(run)
    # Gates so wide open and shut that the cell keeps its value exactly, and is read without loss by a projection.
    bias = torch.tensor([[-1e4, 0.0, 1e4, 1e4]])
    c0 = torch.full((1, 1, 1), 0.5 + beyond, requires_grad=True)
    projection = torch.full((1, 1, 1), 2.0, requires_grad=True)
    weights = LSTMPWeights(torch.zeros(1, 1, 4), torch.zeros(1, 1, 4), bias, projection)
    _, state = run(torch.zeros(1, 1, 1, 1), LSTMPState(torch.zeros(1, 1, 1), c0), weights, cell_clip=0.5)
    (dc0,) = torch.autograd.grad(state.c, c0)
    assert dc0.item() == gradient
    clip = float(torch.tanh(torch.tensor(0.5))) * 2
    y, _ = run(
        torch.zeros(1, 1, 1, 1),
        LSTMPState(torch.zeros(1, 1, 1), torch.full((1, 1, 1), 0.5)),
        weights._replace(projection=projection * (1 + beyond)),
        projection_clip=clip,
    )
    (dprojection,) = torch.autograd.grad(y, projection)
    assert (dprojection.item() != 0) == bool(gradient)


@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS.keys())
def test_inference_equals_the_reference(p: Problem) -> None:
    inputs = make_inputs(p, dtype=torch.float32)
    lengths = None if p.lengths is None else torch.tensor(p.lengths)

    def run(inputs: Inputs, function: object) -> tuple[Tensor, ...]:
        assert callable(function)
        with torch.no_grad():
            y, state = function(
                inputs.x,
                LSTMPState(inputs.h0, inputs.c0),
                LSTMPWeights(*inputs[3:7]),
                lengths=lengths,
                cell_clip=p.cell_clip,
                projection_clip=p.projection_clip,
            )
        return y, *state

    doubled = Inputs(*(None if t is None else t.double() for t in inputs))
    for name, value, expected in zip("yhc", run(inputs, lstmp), run(doubled, lstmp_reference), strict=True):
        assert_near(value, expected, dtype=torch.float32, name=name)


def test_only_what_is_asked_for_gets_a_gradient() -> None:
    p = Problem(cell_clip=0.7, projection_clip=0.5)
    inputs = make_inputs(p, dtype=torch.float64)
    expected = results(lstmp_reference, p, inputs)["dx"]
    x = inputs.x.requires_grad_()
    y, state = lstmp(
        x,
        LSTMPState(inputs.h0, inputs.c0),
        LSTMPWeights(*inputs[3:7]),
        cell_clip=p.cell_clip,
        projection_clip=p.projection_clip,
    )
    (dx,) = torch.autograd.grad((y, *state), (x,), (inputs.dy, inputs.dh, inputs.dc))
    assert_near(dx, expected, dtype=torch.float64, name="dx")


def test_a_kept_graph_gives_the_same_gradient_again() -> None:
    inputs = make_inputs(VARIANTS["clips"], dtype=torch.float64)
    x = inputs.x.requires_grad_()
    y, _ = lstmp(x, LSTMPState(inputs.h0, inputs.c0), LSTMPWeights(*inputs[3:7]), cell_clip=0.7)
    first = torch.autograd.grad(y, x, inputs.dy, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(y, x, inputs.dy)[0])


def test_an_output_changed_in_place_is_noticed() -> None:
    inputs = make_inputs(Problem(), dtype=torch.float32)
    y, _ = lstmp(inputs.x.requires_grad_(), LSTMPState(inputs.h0, inputs.c0), LSTMPWeights(*inputs[3:7]))
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_weights_of_another_type_are_cast_and_get_gradients_of_their_own() -> None:
    inputs = make_inputs(Problem(), dtype=torch.float64)
    weights = LSTMPWeights(*(None if w is None else w.float().requires_grad_() for w in inputs[3:7]))
    y, state = lstmp(inputs.x, LSTMPState(inputs.h0, inputs.c0), weights)
    y.sum().backward()
    assert y.dtype == state.c.dtype == torch.float64
    assert all(w is not None and w.grad is not None and w.grad.dtype == torch.float32 for w in weights)


def test_no_steps_leave_the_state_as_it_was() -> None:
    inputs = make_inputs(Problem(T=0), dtype=torch.float32)
    y, state = lstmp(inputs.x, LSTMPState(inputs.h0, inputs.c0), LSTMPWeights(*inputs[3:7]))
    assert y.shape == (2, 0, 3, 6)
    assert torch.equal(state.h, inputs.h0)
    assert torch.equal(state.c, inputs.c0)


def test_rows_out_of_order_are_refused() -> None:
    inputs = make_inputs(Problem(), dtype=torch.float32)
    with pytest.raises(ValueError, match="descending length"):
        lstmp(
            inputs.x,
            LSTMPState(inputs.h0, inputs.c0),
            LSTMPWeights(*inputs[3:7]),
            lengths=torch.tensor([1, 3, 2]),
        )
