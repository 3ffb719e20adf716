"""The optimizers: the paper's Adagrad and AdamW. Their state is a flat set of named tensors, ready to be saved.

An update takes `bad`, a tensor that is 1 when the gradients are not to be used: parameters and state then stay as they
are, and nobody has to wait for the device to find out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError, ResumeError


@dataclass(frozen=True, kw_only=True)
class AdagradConfig:
    """The original's optimizer. [bilm-tf training.py, train()]"""

    kind: Literal["adagrad"] = "adagrad"
    rate: float = 0.2
    initial_accumulator: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(self, "rate", "initial_accumulator")


@dataclass(frozen=True, kw_only=True)
class AdamConfig:
    """Adam with decoupled weight decay; biases and single vectors are not decayed.

    `rate`: None is one for the size of the model (`pretrain.plan`).
    """

    kind: Literal["adam"] = "adam"
    rate: float | None = None
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-6
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        _check_positive(self, "epsilon", *(() if self.rate is None else ("rate",)))
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"optimizer.{name} is {getattr(self, name)}; it must be 0 or more and below 1")
        if self.weight_decay < 0:
            raise ConfigError(f"optimizer.weight_decay is {self.weight_decay}; it must not be negative")


class Optimizer(Protocol):
    """What the training step needs of an optimizer."""

    def update(self, rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        """Move the parameters along their gradients times `factor`, unless `bad` is 1. May change the gradients."""

    def tensors(self) -> dict[str, Tensor]:
        """The state, by name."""

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over a state that `tensors` gave."""


class Adagrad:
    """`a += g * g; w -= rate * g / sqrt(a)`: TensorFlow's, which has no epsilon. [tf.train.AdagradOptimizer]"""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: AdagradConfig) -> None:
        self._parameters = dict(parameters)
        self._accumulators = {
            name: torch.full_like(p, config.initial_accumulator, requires_grad=False) for name, p in parameters.items()
        }

    @torch.no_grad()
    def update(self, rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        # 0 * inf is not a number, so bad gradients are replaced, not multiplied away.
        gradients = [_gradient(p).masked_fill(bad.bool(), 0) for p in self._parameters.values()]
        if factor is not None:
            torch._foreach_mul_(gradients, factor.masked_fill(bad.bool(), 0))
        accumulators, parameters = list(self._accumulators.values()), list[Tensor](self._parameters.values())
        torch._foreach_addcmul_(accumulators, gradients, gradients)
        steps = torch._foreach_div(gradients, torch._foreach_sqrt(accumulators))
        torch._foreach_mul_(steps, -rate)
        torch._foreach_add_(parameters, steps)

    def tensors(self) -> dict[str, Tensor]:
        return {f"accumulator.{name}": tensor for name, tensor in self._accumulators.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        _copy_into(self.tensors(), tensors)


class Adam:
    """torch's fused AdamW, on the CPU as on CUDA."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: AdamConfig) -> None:
        self._parameters = dict(parameters)
        groups = [
            {"params": [p for p in parameters.values() if p.ndim >= 2], "weight_decay": config.weight_decay},
            {"params": [p for p in parameters.values() if p.ndim < 2], "weight_decay": 0.0},
        ]
        device = next(iter(parameters.values())).device
        # A rate that a CUDA graph can read anew at each replay stands on the device. Each update brings its own.
        self._rate = torch.tensor(0.0, device=device) if device.type == "cuda" else None
        self._adam = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=0.0 if self._rate is None else self._rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=True,
            capturable=self._rate is not None,
        )
        for p in parameters.values():  # as AdamW would at its first step, but now, so that a state can be loaded
            self._adam.state[p] = {
                "step": torch.zeros((), dtype=torch.float32, device=p.device),
                "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p),
            }

    def update(self, rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        if self._rate is None:
            for group in self._adam.param_groups:
                group["lr"] = float(rate)
        elif isinstance(rate, Tensor):
            self._rate.copy_(rate)
        else:
            self._rate.fill_(rate)
        # The fused kernels read these attributes: they leave everything alone where the first is 1, and divide the
        # gradients by the second on their way. [torch.amp.GradScaler]
        self._adam.found_inf = bad.to(torch.float32)  # type: ignore[attr-defined]
        self._adam.grad_scale = None if factor is None else factor.reciprocal()  # type: ignore[attr-defined]
        self._adam.step()

    def tensors(self) -> dict[str, Tensor]:
        return {
            f"{kind}.{name}": tensor
            for name, p in self._parameters.items()
            for kind, tensor in self._adam.state[p].items()
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        _copy_into(self.tensors(), tensors)


def make_optimizer(parameters: Mapping[str, nn.Parameter], config: AdagradConfig | AdamConfig) -> Optimizer:
    """The optimizer that a configuration names."""
    if isinstance(config, AdagradConfig):
        return Adagrad(parameters, config)
    return Adam(parameters, config)


@torch.no_grad()
def _copy_into(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    for name, tensor in ours.items():
        if name not in theirs:
            raise ResumeError(f"the saved optimizer has no {name!r}; it belongs to another optimizer or model")
        if theirs[name].shape != tensor.shape:
            shapes = f"{list(theirs[name].shape)}, but the model wants {list(tensor.shape)}"
            raise ResumeError(f"the saved optimizer's {name!r} is {shapes}")
        tensor.copy_(theirs[name])


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def _check_positive(config: object, *names: str) -> None:
    for name in names:
        if not getattr(config, name) > 0:
            raise ConfigError(f"optimizer.{name} is {getattr(config, name)}; it must be above 0")
