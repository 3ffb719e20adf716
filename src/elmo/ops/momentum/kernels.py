"""Triton kernels for `momentum`: all that is done number by number, in one pass. Importing needs Triton.

A program has numbers of one row of one gate's matrix, so that where they stand in the stack is known by the program.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

LARGEST_BLOCK = 2048


@triton.jit
def _places(m, n, GATES: tl.constexpr, BLOCK: tl.constexpr):
    """Where a program's numbers stand in the parameter and in the stack, and which of them exist."""
    piece = tl.program_id(0).to(tl.int64)  # (matrix before its gates, row, gate), as in the parameter
    row, gate = piece // GATES, piece % GATES
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    stacked = ((row // m) * GATES + gate) * m + row % m
    return piece * n + columns, stacked * n + columns, columns < n


@triton.jit
def _nesterov_kernel(gradient, momentum, step, factor, bad, m, n, beta, GATES: tl.constexpr, BLOCK: tl.constexpr):
    own, stacked, inside = _places(m, n, GATES, BLOCK)
    skip = tl.load(bad) != 0
    old = tl.load(momentum + own, mask=inside)
    scaled = tl.load(gradient + own, mask=inside) * tl.load(factor)
    new = tl.where(skip, old, beta * old + scaled)
    tl.store(momentum + own, new, mask=inside)
    made = tl.where(skip, 0.0, scaled + beta * new)
    tl.store(step + stacked, made.to(step.dtype.element_ty), mask=inside)


@triton.jit
def _take_step_kernel(parameter, step, keep, size, m, n, GATES: tl.constexpr, BLOCK: tl.constexpr):
    own, stacked, inside = _places(m, n, GATES, BLOCK)
    old = tl.load(parameter + own, mask=inside)
    way = tl.load(step + stacked, mask=inside).to(tl.float32)
    tl.store(parameter + own, tl.load(keep) * old - tl.load(size) * way, mask=inside)


def nesterov_in_one_pass(
    gradient: Tensor, momentum: Tensor, step: Tensor, *, gates: int, beta: float, factor: Tensor, bad: Tensor
) -> None:
    """See `momentum.nesterov`; momentum and gradient are float32."""
    assert momentum.is_contiguous()
    assert step.is_contiguous()
    grid, m, n, block = _grid(momentum, gates)
    _nesterov_kernel[grid](
        gradient.contiguous(), momentum, step, factor, bad.to(torch.int32), m, n, beta,
        GATES=gates, BLOCK=block, num_warps=max(1, min(8, block // 256)),
    )  # fmt: skip


def take_step_in_one_pass(parameter: Tensor, step: Tensor, *, gates: int, keep: Tensor, size: Tensor) -> None:
    """See `momentum.take_step`; the parameter is float32."""
    assert parameter.is_contiguous()
    assert step.is_contiguous()
    grid, m, n, block = _grid(parameter, gates)
    _take_step_kernel[grid](
        parameter, step, keep, size, m, n, GATES=gates, BLOCK=block, num_warps=max(1, min(8, block // 256))
    )


def _grid(tensor: Tensor, gates: int) -> tuple[tuple[int, int], int, int, int]:
    """Programs, rows and columns of a matrix, and the numbers of a program."""
    m, n = tensor.shape[-2], tensor.shape[-1] // gates
    block = min(LARGEST_BLOCK, triton.next_power_of_2(n))
    return (tensor.numel() // n, triton.cdiv(n, block)), m, n, block
