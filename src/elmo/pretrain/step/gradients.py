"""The gradients of all parameters: forgotten, averaged over processes, and measured together."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from elmo.run.distributed import World


class Gradients:
    """Of some parameters. The backward pass makes them anew each step: nothing is cleared and nothing is added to."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._parameters = list(parameters)

    def forget(self) -> None:
        """Before a step's first backward pass."""
        for parameter in self._parameters:
            parameter.grad = None

    @property
    def tensors(self) -> list[Tensor]:
        """One for each parameter, zeros where the backward pass did not come by."""
        for parameter in self._parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        return [parameter.grad for parameter in self._parameters if parameter.grad is not None]

    def average(self, world: World) -> None:
        """Over the processes, as one message."""
        if world.size == 1:
            return
        gradients = self.tensors
        flat = world.average_(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = flat.split([gradient.numel() for gradient in gradients])
        torch._foreach_copy_(gradients, [part.view_as(g) for part, g in zip(parts, gradients, strict=True)])

    def norm(self) -> Tensor:
        """Of all gradients together."""
        norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(self.tensors)))
        return norm


def clip_factor(norm: Tensor, limit: float) -> Tensor:
    """What brings gradients of this norm down to a norm of at most `limit`. [tf.clip_by_global_norm]"""
    return torch.clamp(limit / norm, max=1.0)
