"""The CPU's operations, compiled and in plain NumPy: the projected LSTM and the character encoder against float64."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.ops.lstmp.problem import Inputs, Problem, clipped_share, make_inputs
from tests.tiny import TINY
from tests.tolerances import assert_near
from torch import Tensor

from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.characters import CharCNNConfig
from elmo.ops.arrays import host
from elmo.ops.cpu.kernels import PackedLSTMP, Products, kernels_multiply_bfloat16, kernels_run, pack
from elmo.ops.cpu.making import Encode, Making
from elmo.ops.cpu.threads import CPU_THREADS
from elmo.ops.lstmp import LSTMPState, LSTMPWeights, alive_rows, lstmp_reference
from elmo.text.chars import spell

compiled = pytest.mark.skipif(not kernels_run(), reason="no C++ compiler, so there are no kernels to test")
both = pytest.mark.parametrize(
    "kernels", [pytest.param(True, marks=compiled, id="compiled"), pytest.param(False, id="plain")]
)

CLIPPING = Problem(T=20, B=17, D=16, H=40, P=24, cell_clip=0.8, projection_clip=0.6, scale=3.0)
PROBLEMS = {
    "plain": Problem(),
    "no projection": Problem(P=None, cell_clip=0.7),
    "one direction": Problem(R=1, cell_clip=0.7, projection_clip=0.5),
    "lengths": Problem(B=5, T=4, lengths=(4, 3, 3, 1, 0), cell_clip=0.7, projection_clip=0.5),
    "all rows end early": Problem(B=2, T=4, lengths=(2, 1)),
    "clips that fire": CLIPPING,
    "more rows than are hoisted at once": Problem(B=150, T=3, D=16, H=24, P=16, cell_clip=0.7, projection_clip=0.5),
    "depth over one block": Problem(B=13, T=3, D=530, H=600, P=520, scale=2.0, cell_clip=0.7, projection_clip=0.5),
}
WORDS = ["a", "bank", "x" * 60, "Übermut", "東京", ".", "rivers", "", "internationalization", "to"] * 35


def reference(p: Problem, inputs: Inputs) -> tuple[Tensor, Tensor, Tensor]:
    doubled = Inputs(*(None if t is None else t.double() for t in inputs))
    lengths = None if p.lengths is None else torch.tensor(p.lengths)
    state = LSTMPState(doubled.h0, doubled.c0)
    weights = LSTMPWeights(*doubled[3:7])
    clips = {"cell_clip": p.cell_clip, "projection_clip": p.projection_clip}
    y, after = lstmp_reference(doubled.x, state, weights, lengths=lengths, **clips)
    return y, *after


def packed(
    p: Problem, inputs: Inputs, *, kernels: bool = True, products: Products = "float32", dtype: str = "float32"
) -> tuple[Tensor, Tensor, Tensor]:
    weights = (None if weight is None else host(weight) for weight in inputs[3:7])
    layer = Making(kernels=kernels, products=products, dtype=dtype).lstmp(*weights)
    assert isinstance(layer, PackedLSTMP) == kernels
    alive = alive_rows(None if p.lengths is None else torch.tensor(p.lengths), p.T, p.B)
    clips = {"cell_clip": p.cell_clip, "projection_clip": p.projection_clip}
    state = LSTMPState(host(inputs.h0), host(inputs.c0))
    y, after = layer(host(inputs.x), state, alive=alive, **clips)
    return tuple(torch.from_numpy(array) for array in (y, *after))


@both
@pytest.mark.parametrize("p", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_lstm_equals_the_reference(p: Problem, kernels: bool) -> None:
    inputs = make_inputs(p, dtype=torch.float32)
    found = packed(p, inputs, kernels=kernels)
    for name, ours, expected in zip(("y", "h", "c"), found, reference(p, inputs), strict=True):
        assert_near(ours, expected, dtype=torch.float32, name=name)


@pytest.mark.parametrize("p", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_plain_lstm_computes_in_float64_too(p: Problem) -> None:
    inputs = make_inputs(p, dtype=torch.float64)
    found = packed(p, inputs, kernels=False, dtype="float64")
    for name, ours, expected in zip(("y", "h", "c"), found, reference(p, inputs), strict=True):
        assert_near(ours, expected, dtype=torch.float64, name=name)


def test_the_clips_of_the_clipping_problem_do_fire() -> None:
    cells, outputs = clipped_share(CLIPPING, make_inputs(CLIPPING, dtype=torch.float32))
    assert cells > 0.05
    assert outputs > 0.05


@compiled
@pytest.mark.parametrize("rows", range(1, 26))
def test_a_row_does_not_depend_on_its_batch_to_the_last_bit(rows: int) -> None:
    inputs = make_inputs(replace(CLIPPING, B=25), dtype=torch.float32)
    whole = packed(replace(CLIPPING, B=25), inputs)
    fewer = inputs._replace(x=inputs.x[:, :, :rows], h0=inputs.h0[:, :rows], c0=inputs.c0[:, :rows])
    part = packed(replace(CLIPPING, B=rows), fewer)
    assert torch.equal(part[0], whole[0][:, :, :rows])
    assert torch.equal(part[1], whole[1][:, :rows])
    assert torch.equal(part[2], whole[2][:, :rows])


@compiled
@pytest.mark.parametrize("threads", [2, 3, 4, 7])
def test_threads_change_nothing_to_the_last_bit(threads: int) -> None:
    p = Problem(T=6, B=9, D=32, H=80, P=48, lengths=(6, 6, 5, 5, 4, 3, 3, 2, 1), cell_clip=0.8, projection_clip=0.6)
    inputs, tokens, rows = make_inputs(p, dtype=torch.float32), make_tokens(), spelled()
    with CPU_THREADS.set_to(1):
        lstm, words = packed(p, inputs), tokens(rows)
    with CPU_THREADS.set_to(threads):
        for found, expected in zip(packed(p, inputs), lstm, strict=True):
            assert torch.equal(found, expected)
        assert np.array_equal(tokens(rows), words)


NO_THREADS = """
import resource, sys
import numpy as np
from elmo.ops.cpu.making import Making
from elmo.ops.cpu.threads import CPU_THREADS
from elmo.ops.steps import LSTMPState

chance = np.random.default_rng(0)
weights = [chance.standard_normal(shape, np.float32) for shape in ((2, 8, 64), (2, 8, 64), (2, 64), (2, 16, 8))]
layer = Making(kernels=True).lstmp(*weights)
x, state = chance.standard_normal((2, 3, 5, 8), np.float32), LSTMPState(np.zeros((2, 5, 8)), np.zeros((2, 5, 16)))

def run(threads):
    with CPU_THREADS.set_to(threads):
        return layer(x, state, alive=[5] * 3, cell_clip=None, projection_clip=None)[0]

wanted = run(1)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), -1))  # room for the stacks of a few threads
try:
    run(500)
    sys.exit("500 threads fit into 64 MB")
except MemoryError:
    sys.exit(0 if np.array_equal(run(1), wanted) and np.array_equal(run(2), wanted) else "other numbers")
"""


@compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's here")
def test_threads_that_cannot_be_started_are_an_error_and_not_the_end_of_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", NO_THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@compiled
def test_int8_is_near_the_reference() -> None:
    p = replace(CLIPPING, D=64, H=96, P=64, scale=1.0)
    inputs = make_inputs(p, dtype=torch.float32)
    found, expected = packed(p, inputs, products="int8")[0].double(), reference(p, inputs)[0]
    cosine = torch.nn.functional.cosine_similarity(found, expected, dim=-1)
    assert float(cosine.min()) > 0.99
    assert float((found - expected).abs().max()) > 1e-5  # it is int8 indeed


with_bfloat16 = pytest.mark.skipif(not kernels_multiply_bfloat16(), reason="no instructions for bfloat16 here")


def rounded(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.bfloat16().float()


@compiled
@with_bfloat16
@pytest.mark.parametrize("p", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_bfloat16_is_near_the_reference(p: Problem) -> None:
    inputs = make_inputs(p, dtype=torch.float32)
    for name, ours, expected in zip(
        ("y", "h", "c"), packed(p, inputs, products="bfloat16"), reference(p, inputs), strict=True
    ):
        assert_near(ours, expected, dtype=torch.bfloat16, name=name)


@compiled
@with_bfloat16
def test_of_bfloat16_only_the_factors_are_rounded() -> None:
    """One step from zero: its gates are products of numbers that bfloat16 has, so that nothing is lost in them."""
    p = Problem(T=1, B=5, D=33, H=40, P=None, cell_clip=0.7)
    inputs = make_inputs(p, dtype=torch.float32)
    inputs = inputs._replace(x=rounded(inputs.x), h0=torch.zeros_like(inputs.h0), weight_x=rounded(inputs.weight_x))
    for ours, expected in zip(packed(p, inputs, products="bfloat16"), reference(p, inputs), strict=True):
        assert_near(ours, expected, dtype=torch.float32, name="one step")


@compiled
@with_bfloat16
def test_bfloat16_gives_the_same_bits_in_any_batch() -> None:
    p = Problem(B=40, T=3, D=530, H=96, P=520)
    inputs = make_inputs(p, dtype=torch.float32)
    whole = packed(p, inputs, products="bfloat16")[0]
    for rows in (slice(0, 1), slice(3, 6), slice(7, 39)):
        part = inputs._replace(x=inputs.x[:, :, rows], h0=inputs.h0[:, rows], c0=inputs.c0[:, rows])
        found = packed(replace(p, B=rows.stop - rows.start), part, products="bfloat16")[0]
        assert torch.equal(found, whole[:, :, rows])


@compiled
@with_bfloat16
def test_bfloat16_takes_half_of_the_memory() -> None:
    weight = np.ones((511, 256), np.float32)
    assert pack(weight, products="bfloat16").data.size == 512 * 256 * 2


@compiled
def test_int8_takes_a_quarter_of_the_memory() -> None:
    weight = np.ones((512, 256), np.float32)
    assert pack(weight, products="int8").data.size < 0.27 * pack(weight, products="float32").data.size


def make_tokens(
    *, kernels: bool = True, products: Products = "float32", dtype: str = "float32", **changes: object
) -> Encode:
    bilm = make_encoder(**changes)
    weights = {name: host(tensor) for name, tensor in bilm.tokens.state_dict().items()}
    return bilm.config.tokens.frozen(weights, Making(kernels=kernels, products=products, dtype=dtype))


def make_encoder(**changes: object) -> BiLM:
    fields = {"embedding_dim": 4, "filters": ((1, 5), (2, 20), (3, 40)), "highways": 2, "output_dim": 8} | changes
    lstm = replace(TINY.lstm, input_dim=fields["output_dim"], projection_dim=fields["output_dim"])
    bilm = BiLM(BiLMConfig(tokens=CharCNNConfig(**fields), lstm=lstm))
    bilm.initialize(torch.Generator().manual_seed(0))
    with torch.no_grad():
        for weight in bilm.tokens.filters:
            weight.mul_(8)
        for bias in bilm.tokens.filter_biases:
            bias.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(1))
    return bilm.requires_grad_(False)


def spelled() -> np.ndarray[Any, Any]:
    return spell(WORDS)


@both
@pytest.mark.parametrize(
    "changes",
    [{}, {"activation": "tanh"}, {"highways": 0}, {"output_dim": 65}],
    ids=["two highways", "tanh", "no highway", "no projection"],
)
def test_the_encoder_equals_the_module(changes: dict[str, object], kernels: bool) -> None:
    expected = make_encoder(**changes).tokens.double()(torch.from_numpy(spelled()))
    found = make_tokens(kernels=kernels, **changes)(spelled())
    assert_near(torch.from_numpy(found), expected, dtype=torch.float32, name="vectors")
    if not kernels:
        exact = make_tokens(kernels=False, dtype="float64", **changes)(spelled())
        assert_near(torch.from_numpy(exact), expected, dtype=torch.float64, name="vectors")


@compiled
def test_the_packed_encoder_in_int8_is_near_the_module() -> None:
    wanted = torch.from_numpy(make_tokens()(spelled()))
    found = torch.from_numpy(make_tokens(products="int8")(spelled()))
    assert float(torch.nn.functional.cosine_similarity(found, wanted, dim=-1).min()) > 0.99


@compiled
@with_bfloat16
def test_the_packed_encoder_in_bfloat16_is_near_the_module() -> None:
    wanted = torch.from_numpy(make_tokens()(spelled()))
    found = torch.from_numpy(make_tokens(products="bfloat16")(spelled()))
    assert_near(found, wanted.double(), dtype=torch.bfloat16, name="vectors")


@both
def test_no_words_give_no_vectors(kernels: bool) -> None:
    assert make_tokens(kernels=kernels)(spelled()[:0]).shape == (0, 8)


@both
def test_a_character_outside_the_table_is_refused(kernels: bool) -> None:
    rows = spelled()
    rows[3, 2] = 262
    with pytest.raises(IndexError, match=r"0\.\.261"):
        make_tokens(kernels=kernels)(rows)
