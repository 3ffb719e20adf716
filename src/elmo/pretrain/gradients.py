"""The gradients of all parameters in one buffer: zeroed, averaged over processes, measured and clipped in one go."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Gradients:
    """Gives each parameter a `grad` that is a view of one flat tensor; autograd adds into it."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        parameters = list(parameters)
        first = parameters[0]
        self.flat = torch.zeros(sum(p.numel() for p in parameters), dtype=first.dtype, device=first.device)
        start = 0
        for parameter in parameters:
            parameter.grad = self.flat[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()

    def zero(self) -> None:
        """Forget the last step's."""
        self.flat.zero_()

    def norm(self) -> Tensor:
        """Of all gradients together."""
        norm: Tensor = torch.linalg.vector_norm(self.flat)
        return norm

    def clip(self, norm: Tensor, limit: float) -> None:
        """Scale them down to a norm of at most `limit`. [tf.clip_by_global_norm]"""
        self.flat.mul_(torch.clamp(limit / norm, max=1.0))
