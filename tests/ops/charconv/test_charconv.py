"""The character convolution: the fast versions against the one over all columns, in float64."""

import functools

import pytest
import torch
from tests.ops.charconv.problem import PADDING, assert_equals_reference, make_problem, results
from tests.tolerances import assert_near
from torch.nn.functional import embedding

from elmo.ops.charconv import char_convolution, char_convolution_reference, grouped

convolve = functools.partial(char_convolution, padding_id=PADDING)
LENGTHS = {
    "one word": [5],
    "all lengths": list(range(13)),
    "full rows": [12, 12],
    "nearly full rows": [11, 10, 12, 9],
    "empty rows": [0, 0, 3],
}


def test_the_reference_is_a_convolution_and_a_maximum() -> None:
    p = make_problem([4, 7])
    embedded = embedding(p.rows.long(), p.table)
    best = [float("-inf")] * 5
    for k in range(12 - 3 + 1):
        for f in range(5):
            score = sum(float(embedded[1, k + j] @ p.weights[2][j, :, f]) for j in range(3))
            best[f] = max(best[f], score + float(p.biases[2][f]))
    result = char_convolution_reference(p.rows, p.table, p.weights, p.biases)
    assert result[1, 7:].tolist() == pytest.approx(best)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS.keys())
def test_results_and_gradients_equal_the_reference(lengths: list[int], dtype: torch.dtype) -> None:
    assert_equals_reference(convolve, make_problem(lengths, dtype=dtype))


def test_many_groups_of_words_equal_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped, "WORDS_AT_ONCE", 3)
    assert_equals_reference(convolve, make_problem([3, 9, 1, 12, 0, 5, 5, 2, 11, 7], dtype=torch.float64))


def test_inference_equals_training() -> None:
    p = make_problem([3, 9, 1, 12])
    with torch.no_grad():
        inferred = convolve(p.rows, p.table, p.weights, p.biases)
    assert_near(inferred, results(convolve, p)["result"], dtype=torch.float64, name="result")


def test_windows_that_are_equal_count_once() -> None:
    p = make_problem([6])
    p.rows[:] = 3
    assert_equals_reference(convolve, p)


def test_a_kept_graph_gives_the_same_gradient_again() -> None:
    p = make_problem([3, 9, 1, 12])
    table = p.table.requires_grad_()
    result = convolve(p.rows, table, p.weights, p.biases)
    first = torch.autograd.grad(result, table, p.dresult, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(result, table, p.dresult)[0])


def test_no_words_give_no_rows() -> None:
    p = make_problem([3])
    assert convolve(p.rows[:0], p.table, p.weights, p.biases).shape == (0, 12)
