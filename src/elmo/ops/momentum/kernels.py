"""A Triton kernel for `momentum`: all that is done number by number, in one pass. Importing needs Triton."""
# mypy: disable-error-code="untyped-decorator,no-untyped-def,no-untyped-call,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 2048


@triton.jit
def _nesterov_kernel(gradient, momentum, step, factor, bad, count, beta, BLOCK: tl.constexpr):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    skip = tl.load(bad) != 0
    old = tl.load(momentum + places, mask=inside)
    scaled = tl.load(gradient + places, mask=inside) * tl.load(factor)
    new = tl.where(skip, old, beta * old + scaled)
    tl.store(momentum + places, new, mask=inside)
    made = tl.where(skip, 0.0, scaled + beta * new)
    tl.store(step + places, made.to(step.dtype.element_ty), mask=inside)


def nesterov_in_one_pass(
    gradient: Tensor, momentum: Tensor, *, beta: float, factor: Tensor, bad: Tensor, dtype: torch.dtype
) -> Tensor:
    """See `momentum.nesterov`; momentum and gradient are float32."""
    assert momentum.is_contiguous()
    gradient = gradient.contiguous()
    step = torch.empty_like(gradient, dtype=dtype)
    count = gradient.numel()
    _nesterov_kernel[(triton.cdiv(count, BLOCK),)](
        gradient, momentum, step, factor, bad.to(torch.int32), count, beta, BLOCK=BLOCK, num_warps=8
    )
    return step
