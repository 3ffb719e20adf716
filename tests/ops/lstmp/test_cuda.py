"""The projected LSTM in Triton and cuBLAS against the float64 reference: on a GPU, or slowly in Triton's interpreter.

`pytest -m gpu` on a machine with a GPU; `TRITON_INTERPRET=1 pytest -m gpu` without one, in float32.
"""

import os
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.ops.lstmp.problem import Problem, assert_equals_reference, clipped_share, make_inputs, results
from tests.tolerances import assert_near
from torch import Tensor

from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp, lstmp_reference

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("there is no GPU", allow_module_level=True)

from elmo.ops.lstmp.cuda import Split, lstmp_cuda, split_for  # noqa: E402

pytestmark = pytest.mark.gpu
# This kind of processor may lack the half-precision instructions it claims: 16-bit types only on a GPU.
DTYPES = [torch.float32, torch.bfloat16, torch.float16] if DEVICE == "cuda" else [torch.float32]
PLANS = {
    "folded": Split(folded=True, projection_splits=1, recurrent_splits=1),
    "hoisted": Split(folded=False, projection_splits=1, recurrent_splits=1),
    "cut": Split(folded=True, projection_splits=2, recurrent_splits=4),
    "hoisted, cut": Split(folded=False, projection_splits=4, recurrent_splits=2),
}
VARIANTS = {
    "plain": Problem(D=8, H=24, P=8),
    "clips": Problem(D=8, H=24, P=8, cell_clip=0.7, projection_clip=0.5),
    "no projection": Problem(D=8, H=24, P=None, cell_clip=0.7, projection_clip=0.5),
    "lengths": Problem(D=8, H=24, P=8, B=5, T=4, lengths=(4, 3, 3, 1, 0), cell_clip=0.7, projection_clip=0.5),
    "lengths, no projection": Problem(D=8, H=24, P=None, B=5, T=4, lengths=(4, 3, 3, 1, 0)),
    "all rows end early": Problem(D=8, H=24, P=8, B=2, T=4, lengths=(2, 1)),
    "one direction": Problem(D=8, H=24, P=8, R=1),
    "odd sizes": Problem(D=8, H=264, P=40, B=11, cell_clip=0.7, projection_clip=0.5),
}


def planned(plan: Split | None) -> Any:
    """`lstmp_cuda` with the arguments of `lstmp`."""

    def run(
        x: Tensor, state: LSTMPState, weights: LSTMPWeights, *, lengths: Tensor | None, **clips: float | None
    ) -> tuple[Tensor, LSTMPState]:
        T, B = x.shape[1:3]
        alive = [B] * T if lengths is None else [int((lengths > t).sum()) for t in range(T)]
        return lstmp_cuda(x, state, weights, lengths=lengths, alive=alive, split=plan, **clips)

    return run


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_plan_equals_the_reference(p: Problem, plan: Split, dtype: torch.dtype) -> None:
    assert_equals_reference(planned(plan), p, dtype=dtype, device=DEVICE)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("T", [1, 2, 20])
@pytest.mark.parametrize("B", [1, 3, 17, 128])
def test_every_size_equals_the_reference(B: int, T: int, dtype: torch.dtype) -> None:
    if DEVICE == "cpu" and B * T > 60:
        pytest.skip("too slow in the interpreter")
    p = Problem(T=T, B=B, D=32, H=520, P=32, cell_clip=3.0, projection_clip=3.0)
    assert_equals_reference(planned(None), p, dtype=dtype, device=DEVICE)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_clips_that_fire_often_pass_no_gradient(dtype: torch.dtype) -> None:
    p = Problem(T=6, B=17, D=16, H=264, P=40, cell_clip=0.8, projection_clip=0.6, scale=3.0)
    p = replace(p, margins=dtype.itemsize < 4)
    cells, outputs = clipped_share(p, make_inputs(p, dtype=dtype))
    assert 0.05 < cells < 0.95
    assert 0.05 < outputs < 0.95
    assert_equals_reference(planned(PLANS["cut"]), p, dtype=dtype, device=DEVICE)


@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_inference_equals_the_reference(p: Problem, plan: Split) -> None:
    inputs = make_inputs(p, dtype=torch.float32, device=DEVICE)
    lengths = None if p.lengths is None else torch.tensor(p.lengths)

    def run(function: Any, dtype: torch.dtype, device: str) -> list[Tensor]:
        x, h0, c0, *weights = (None if t is None else t.to(device, dtype) for t in inputs[:7])
        with torch.no_grad():
            y, state = function(
                x,
                LSTMPState(h0, c0),
                LSTMPWeights(*weights),
                lengths=None if lengths is None else lengths.to(device),
                cell_clip=p.cell_clip,
                projection_clip=p.projection_clip,
            )
        return [y, *state]

    expected = run(lstmp_reference, torch.float64, "cpu")
    for name, value, wanted in zip("yhc", run(planned(plan), torch.float32, DEVICE), expected, strict=True):
        assert_near(value, wanted, dtype=torch.float32, name=name)


def test_a_kept_graph_gives_the_same_gradient_again() -> None:
    inputs = make_inputs(VARIANTS["clips"], dtype=torch.float32, device=DEVICE)
    x = inputs.x.requires_grad_()
    clips = {"cell_clip": 0.7, "projection_clip": 0.5}
    y, _ = planned(None)(x, LSTMPState(inputs.h0, inputs.c0), LSTMPWeights(*inputs[3:7]), lengths=None, **clips)
    first = torch.autograd.grad(y, x, inputs.dy, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(y, x, inputs.dy)[0])


def test_plans_cut_only_what_divides() -> None:
    assert split_for(2, 128, 512, 4096, 512) == Split(folded=True, projection_splits=16, recurrent_splits=8)
    assert split_for(2, 2048, 512, 4096, 512) == Split(folded=True, projection_splits=1, recurrent_splits=1)
    assert split_for(2, 8, 30, 1000, 30).projection_splits == 1


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_a_captured_step_equals_an_eager_one() -> None:
    p = Problem(T=5, B=32, D=64, H=512, P=64, cell_clip=0.7, projection_clip=0.5)
    inputs = make_inputs(p, dtype=torch.bfloat16, device=DEVICE)
    run = planned(None)
    expected = results(run, p, inputs)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        results(run, p, inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = results(run, p, inputs)
    for value in captured.values():
        value.fill_(float("nan"))
    graph.replay()
    for name, value in captured.items():
        assert torch.equal(value, expected[name]), name


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("p", [VARIANTS["clips"], VARIANTS["lengths"]], ids=["clips", "lengths"])
def test_the_public_function_equals_the_reference_on_a_gpu(p: Problem, dtype: torch.dtype) -> None:
    assert_equals_reference(lstmp, p, dtype=dtype, device=DEVICE)


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_float32_masters_get_float32_gradients() -> None:
    p = Problem(T=3, B=16, D=64, H=128, P=64, cell_clip=0.7, projection_clip=0.5)
    inputs = make_inputs(p, dtype=torch.bfloat16, device=DEVICE)
    masters = inputs._replace(
        **{name: getattr(inputs, name).float() for name in ("weight_x", "weight_h", "bias", "projection")}
    )
    rounded, exact = results(lstmp, p, inputs), results(lstmp, p, masters)
    for name in ("dW_x", "dW_h", "db", "dW_p"):
        assert exact[name].dtype == torch.float32
        assert_near(exact[name], rounded[name], dtype=torch.bfloat16, name=name)


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_a_state_carried_for_long_stays_near_the_reference() -> None:
    p = Problem(T=20, B=4, D=64, H=256, P=64, cell_clip=3.0, projection_clip=3.0)
    weights = make_inputs(p, dtype=torch.bfloat16)
    generator = torch.Generator().manual_seed(1)

    def carried(dtype: torch.dtype, device: str) -> Tensor:
        generator.manual_seed(1)
        wide = torch.promote_types(dtype, torch.float32)
        state = LSTMPState(weights.h0.to(device, dtype), weights.c0.to(device, wide))
        values = LSTMPWeights(*(None if w is None else w.to(device, dtype) for w in weights[3:7]))
        for _ in range(50):
            x = torch.randn(p.R, p.T, p.B, p.D, generator=generator).bfloat16()
            with torch.no_grad():
                y, state = lstmp(x.to(device, dtype), state, values, cell_clip=3.0, projection_clip=3.0)
        return y

    assert_near(carried(torch.bfloat16, DEVICE), carried(torch.float64, "cpu"), dtype=torch.bfloat16, name="y")
