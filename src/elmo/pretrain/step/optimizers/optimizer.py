"""What the training step needs of an optimizer, and what all of them do alike.

An update takes `bad`, a tensor that is 1 when the gradients are not to be used: parameters and state then stay as they
are, and nobody has to wait for the device to find out. The state is a flat set of named tensors, ready to be saved.
"""

from typing import Protocol

from torch import Tensor, nn

from elmo.errors import ConfigError


class Optimizer(Protocol):
    """What the training step needs of an optimizer."""

    def update(self, learning_rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        """Move the parameters along their gradients times `factor`, unless `bad` is 1. May change the gradients."""

    def tensors(self) -> dict[str, Tensor]:
        """The state itself, by name: copying other numbers into these tensors takes a saved state over."""


def gradient_of(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def check_positive(config: object, *names: str) -> None:
    for name in names:
        if not getattr(config, name) > 0:
            raise ConfigError(f"optimizer.{name} is {getattr(config, name)}; it must be above 0")


def check_not_negative(config: object, *names: str) -> None:
    for name in names:
        if getattr(config, name) < 0:
            raise ConfigError(f"optimizer.{name} is {getattr(config, name)}; it must not be negative")
