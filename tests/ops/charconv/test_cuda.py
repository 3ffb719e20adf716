"""The character convolution in Triton against the float64 reference: on a GPU, or slowly in Triton's interpreter."""

import functools
import os

import pytest
import torch
from tests.ops.charconv.problem import PADDING, assert_equals_reference, make_problem, results
from tests.tolerances import assert_near

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("there is no GPU", allow_module_level=True)

from elmo.ops.charconv.cuda import char_convolution_cuda  # noqa: E402

pytestmark = pytest.mark.gpu
DTYPES = [torch.float32, torch.bfloat16, torch.float16] if DEVICE == "cuda" else [torch.float32]
convolve = functools.partial(char_convolution_cuda, padding_id=PADDING)
LENGTHS = {
    "one word": [5],
    "all lengths": list(range(13)),
    "full rows": [12, 12],
    "nearly full rows": [11, 10, 12, 9],
    "empty rows": [0, 0, 3],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS.keys())
def test_results_and_gradients_equal_the_reference(lengths: list[int], dtype: torch.dtype) -> None:
    assert_equals_reference(convolve, make_problem(lengths, dtype=dtype, device=DEVICE))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sizes_beyond_one_block_equal_the_reference(dtype: torch.dtype) -> None:
    lengths = [3 + k * 7 % 40 for k in range(130)]
    filters = ((1, 20), (2, 30), (4, 70), (7, 90))
    assert_equals_reference(convolve, make_problem(lengths, C=50, E=16, filters=filters, dtype=dtype, device=DEVICE))


def test_inference_equals_training() -> None:
    p = make_problem([3, 9, 1, 12], dtype=torch.float32, device=DEVICE)
    with torch.no_grad():
        inferred = convolve(p.rows, p.table, p.weights, p.biases)
    assert_near(inferred, results(convolve, p)["result"], dtype=torch.float32, name="result")


def test_windows_that_are_equal_count_once() -> None:
    p = make_problem([6], dtype=torch.float32, device=DEVICE)
    p.rows[:] = 3
    assert_equals_reference(convolve, p)


def test_no_words_give_no_rows() -> None:
    p = make_problem([3], dtype=torch.float32, device=DEVICE)
    assert convolve(p.rows[:0], p.table, p.weights, p.biases).shape == (0, 12)


@pytest.mark.skipif(DEVICE == "cpu", reason="there is no GPU")
def test_a_captured_step_equals_an_eager_one() -> None:
    p = make_problem([3, 9, 1, 12, 7, 7, 2], dtype=torch.bfloat16, device=DEVICE)
    expected = results(convolve, p)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        results(convolve, p)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = results(convolve, p)
    for value in captured.values():
        value.fill_(float("nan"))
    graph.replay()
    for name, value in captured.items():
        assert torch.equal(value, expected[name]), name
