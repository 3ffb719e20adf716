"""Muon's passes over numbers: a gradient into its momentum, and a finished step into its parameter.

Steps are stacked: a parameter [.., m, gates * n] holds the matrices of its gates beside each other, its step has them
one after the other, [G, m, n], so that one product can take them all.
"""

import torch
from torch import Tensor

from elmo.ops.gpu.triton_support import triton_runs_on


def matrices_of(tensor: Tensor, gates: int) -> Tensor:
    """A view of [.., m, gates * n] as the matrices [.., gates, m, n] in it."""
    found: Tensor = tensor.unflatten(-1, (gates, -1)).movedim(-2, -3)
    return found


def nesterov(
    gradient: Tensor, momentum: Tensor, step: Tensor, *, gates: int, beta: float, factor: Tensor, bad: Tensor
) -> None:
    """Brings `momentum` [.., m, gates * n] forward and writes the step [G, m, n] that looks one gradient ahead.

    momentum = beta * momentum + factor * gradient; the step is factor * gradient + beta * momentum. `factor` and `bad`
    have one number each; where `bad` is 1 the momentum stays as it is, and the step is 0.
    """
    if gradient.dtype == torch.float32 and triton_runs_on(gradient.device):
        from elmo.ops.momentum.kernels import nesterov_in_one_pass

        nesterov_in_one_pass(gradient, momentum, step, gates=gates, beta=beta, factor=factor, bad=bad)
    else:
        nesterov_reference(gradient, momentum, step, gates=gates, beta=beta, factor=factor, bad=bad)


def nesterov_reference(
    gradient: Tensor, momentum: Tensor, step: Tensor, *, gates: int, beta: float, factor: Tensor, bad: Tensor
) -> None:
    """The same in plain torch."""
    skip = bad.bool()
    scaled = gradient * factor
    # 0 * inf is not a number, so what comes of bad gradients is replaced, not multiplied away.
    momentum.copy_(torch.where(skip, momentum, beta * momentum + scaled))
    made = matrices_of((scaled + beta * momentum).masked_fill(skip, 0), gates)
    step.view(made.shape).copy_(made)


def take_step(parameter: Tensor, step: Tensor, *, gates: int, keep: Tensor, size: Tensor) -> None:
    """parameter [.., m, gates * n] = keep * parameter - size * step [G, m, n]; `keep`, `size` have one number each."""
    if parameter.dtype == torch.float32 and triton_runs_on(parameter.device):
        from elmo.ops.momentum.kernels import take_step_in_one_pass

        take_step_in_one_pass(parameter, step, gates=gates, keep=keep, size=size)
    else:
        take_step_reference(parameter, step, gates=gates, keep=keep, size=size)


def take_step_reference(parameter: Tensor, step: Tensor, *, gates: int, keep: Tensor, size: Tensor) -> None:
    """The same in plain torch."""
    own = matrices_of(parameter, gates)
    parameter.mul_(keep)
    own.sub_(step.view(own.shape) * size)
