"""Adagrad, the paper's optimizer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from elmo.model.fields import formerly
from elmo.pretrain.step.optimizers.optimizer import check_positive, gradient_of


@dataclass(frozen=True, kw_only=True)
class AdagradConfig:
    """The original's optimizer. [bilm-tf training.py, train()]"""

    kind: Literal["adagrad"] = "adagrad"
    learning_rate: float = field(default=0.2, metadata=formerly("rate"))
    initial_accumulator: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self, "learning_rate", "initial_accumulator")


class Adagrad:
    """`a += g * g; w -= learning_rate * g / sqrt(a)`: TensorFlow's, without epsilon. [tf.train.AdagradOptimizer]"""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: AdagradConfig) -> None:
        self._parameters = dict(parameters)
        self._accumulators = {
            name: torch.full_like(p, config.initial_accumulator, requires_grad=False) for name, p in parameters.items()
        }

    @torch.no_grad()
    def update(self, learning_rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        # 0 * inf is not a number, so bad gradients are replaced, not multiplied away.
        gradients = [gradient_of(p).masked_fill(bad.bool(), 0) for p in self._parameters.values()]
        if factor is not None:
            torch._foreach_mul_(gradients, factor.masked_fill(bad.bool(), 0))
        accumulators, parameters = list(self._accumulators.values()), list[Tensor](self._parameters.values())
        torch._foreach_addcmul_(accumulators, gradients, gradients)
        steps = torch._foreach_div(gradients, torch._foreach_sqrt(accumulators))
        torch._foreach_mul_(steps, -learning_rate)
        torch._foreach_add_(parameters, steps)

    def tensors(self) -> dict[str, Tensor]:
        return {f"accumulator.{name}": tensor for name, tensor in self._accumulators.items()}
