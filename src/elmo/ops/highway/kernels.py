"""Triton kernels of the highway layer: all that is done number by number, once forward and once backward.

W words, F size; `pre` [W, 2F] holds both gates before their functions, the carry first. Importing needs Triton.
"""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

COLUMNS = 1024


@triton.jit
def _load(pre, x, row, columns, F):
    """The carry gate, the transformed value before its relu, and x."""
    inside = columns < F
    carry = tl.sigmoid(tl.load(pre + row * 2 * F + columns, mask=inside, other=0).to(tl.float32))
    transformed = tl.load(pre + row * 2 * F + F + columns, mask=inside, other=0).to(tl.float32)
    return carry, transformed, tl.load(x + row * F + columns, mask=inside, other=0).to(tl.float32)


@triton.jit
def _combine_kernel(pre, x, y, F, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    carry, transformed, value = _load(pre, x, row, columns, F)
    result = carry * tl.maximum(transformed, 0) + (1 - carry) * value
    tl.store(y + row * F + columns, result.to(y.dtype.element_ty), mask=columns < F)


@triton.jit
def _combine_backward_kernel(pre, x, dy, dpre, dx, F, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = columns < F
    carry, transformed, value = _load(pre, x, row, columns, F)
    gradient = tl.load(dy + row * F + columns, mask=inside, other=0).to(tl.float32)
    narrow = dx.dtype.element_ty
    dcarry = gradient * (tl.maximum(transformed, 0) - value) * carry * (1 - carry)
    dtransformed = tl.where(transformed > 0, gradient * carry, 0.0)
    tl.store(dpre + row * 2 * F + columns, dcarry.to(narrow), mask=inside)
    tl.store(dpre + row * 2 * F + F + columns, dtransformed.to(narrow), mask=inside)
    tl.store(dx + row * F + columns, (gradient * (1 - carry)).to(narrow), mask=inside)


def combine(pre: Tensor, x: Tensor) -> Tensor:
    """pre [W, 2F] and x [W, F] -> the layer's output [W, F]."""
    W, F = x.shape
    y = torch.empty_like(x)
    _combine_kernel[(W, triton.cdiv(F, COLUMNS))](pre, x, y, F, COLUMNS=COLUMNS, num_warps=4)
    return y


def combine_backward(pre: Tensor, x: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of `pre` [W, 2F] and of the x that was carried past the gates [W, F]."""
    W, F = x.shape
    dpre, dx = torch.empty_like(pre), torch.empty_like(x)
    _combine_backward_kernel[(W, triton.cdiv(F, COLUMNS))](pre, x, dy, dpre, dx, F, COLUMNS=COLUMNS, num_warps=4)
    return dpre, dx
