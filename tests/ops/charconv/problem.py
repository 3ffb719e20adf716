"""Random words and filters for the character convolution, and the float64 answers of its reference with gradients."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from tests.tolerances import assert_near
from torch import Tensor

from elmo.ops.charconv import char_convolution_reference

PADDING = 29
CHARACTERS = 30
EQUAL, CLOSE = 1e-9, 1e-4  # differences of scores, which are of the order of 1 to 10


class Problem(NamedTuple):
    """Words and filters, and the gradient of what comes out."""

    rows: Tensor  # [W, C]
    table: Tensor
    weights: list[Tensor]
    biases: list[Tensor]
    dresult: Tensor


def make_problem(
    lengths: list[int],
    *,
    C: int = 12,
    E: int = 4,
    filters: tuple[tuple[int, int], ...] = ((1, 3), (2, 4), (3, 5)),
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    seed: int = 0,
) -> Problem:
    """Words of these lengths, of few characters, so that windows repeat; numbers that `dtype` holds exactly."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randint(1, 9, (len(lengths), C), generator=generator)
    rows[torch.arange(C) >= torch.tensor(lengths)[:, None]] = PADDING

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).to(device)

    count = sum(count for _, count in filters)
    problem = Problem(
        rows.to(torch.int16).to(device),
        normal(CHARACTERS, E),
        [normal(width, E, count) for width, count in filters],
        [normal(count) for _, count in filters],
        normal(len(lengths), count),
    )
    problem.dresult[_is_close_call(problem)] = 0
    return problem


def _is_close_call(problem: Problem) -> Tensor:
    """Where two different windows score nearly alike: rounding decides which one the gradient goes to. [W, F]"""
    embedded = problem.table.double()[problem.rows.long()]  # [W, C, E]
    close = []
    for weight in problem.weights:
        windows = embedded.unfold(1, len(weight), 1).transpose(2, 3).flatten(2)  # [W, V, width * E]
        scores = windows @ weight.double().flatten(0, 1)  # [W, V, count]
        best = scores.amax(1, keepdim=True)
        other = scores.masked_fill(scores > best - EQUAL, -torch.inf).amax(1)  # equal windows share their gradient
        close.append(best[:, 0] - other < CLOSE)
    return torch.cat(close, dim=1)


def results(run: Callable[..., Tensor], problem: Problem) -> dict[str, Tensor]:
    """The outputs of `run(rows, table, weights, biases)` and the gradients of all but the rows."""
    table = problem.table.detach().clone().requires_grad_()
    weights = [w.detach().clone().requires_grad_() for w in problem.weights]
    biases = [b.detach().clone().requires_grad_() for b in problem.biases]
    result = run(problem.rows, table, weights, biases)
    gradients = torch.autograd.grad(result, (table, *weights, *biases), problem.dresult)
    names = [f"dW {len(w)}" for w in weights] + [f"db {len(w)}" for w in weights]
    return dict(zip(("result", "dtable", *names), (result.detach(), *gradients), strict=True))


def assert_equals_reference(run: Callable[..., Tensor], problem: Problem) -> None:
    """Results and gradients as near to the float64 reference as the table of tolerances asks for the table's type."""
    dtype = problem.table.dtype
    double = Problem(
        problem.rows.cpu(),
        problem.table.cpu().double(),
        [w.cpu().double() for w in problem.weights],
        [b.cpu().double() for b in problem.biases],
        problem.dresult.cpu().double(),
    )
    expected = results(char_convolution_reference, double)
    for name, value in results(run, problem).items():
        assert_near(value, expected[name], dtype=dtype, name=name)
