"""Momentum of Nesterov's kind: a gradient goes into the sum of all before it, and the step looks one gradient ahead."""

import torch
from torch import Tensor

from elmo.ops.gpu.triton_support import triton_runs_on


def nesterov(
    gradient: Tensor, momentum: Tensor, *, beta: float, factor: Tensor, bad: Tensor, dtype: torch.dtype
) -> Tensor:
    """The step of a parameter, as `dtype`; `momentum` is brought forward in place.

    momentum = beta * momentum + factor * gradient; the step is factor * gradient + beta * momentum. `factor` and `bad`
    have one number each; where `bad` is 1 the momentum stays as it is, and the step is 0.
    """
    if gradient.dtype == torch.float32 and triton_runs_on(gradient.device):
        from elmo.ops.momentum.kernels import nesterov_in_one_pass

        return nesterov_in_one_pass(gradient, momentum, beta=beta, factor=factor, bad=bad, dtype=dtype)
    return nesterov_reference(gradient, momentum, beta=beta, factor=factor, bad=bad, dtype=dtype)


def nesterov_reference(
    gradient: Tensor, momentum: Tensor, *, beta: float, factor: Tensor, bad: Tensor, dtype: torch.dtype
) -> Tensor:
    """The same in plain torch."""
    skip = bad.bool()
    scaled = gradient * factor
    # 0 * inf is not a number, so what comes of bad gradients is replaced, not multiplied away.
    momentum.copy_(torch.where(skip, momentum, beta * momentum + scaled))
    return (scaled + beta * momentum).masked_fill(skip, 0).to(dtype)
