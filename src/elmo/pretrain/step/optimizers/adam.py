"""AdamW, fused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.fields import formerly
from elmo.pretrain.step.optimizers.optimizer import check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class AdamConfig:
    """Adam with decoupled weight decay; biases and single vectors are not decayed.

    `learning_rate`: None is one for the size of the model (`pretrain.plan`).
    """

    kind: Literal["adam"] = "adam"
    learning_rate: float | None = field(default=None, metadata=formerly("rate"))
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-6
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_positive(self, "epsilon", *(() if self.learning_rate is None else ("learning_rate",)))
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"optimizer.{name} is {getattr(self, name)}; it must be 0 or more and below 1")
        check_not_negative(self, "weight_decay")


class Adam:
    """torch's fused AdamW, on the CPU as on CUDA."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: AdamConfig) -> None:
        self._parameters = dict(parameters)
        groups = [
            {"params": [p for n, p in parameters.items() if _decays(n, p)], "weight_decay": config.weight_decay},
            {"params": [p for n, p in parameters.items() if not _decays(n, p)], "weight_decay": 0.0},
        ]
        device = next(iter(parameters.values())).device
        # One that a CUDA graph can read anew at each replay stands on the device. Each update brings its own.
        self._learning_rate = torch.tensor(0.0, device=device) if device.type == "cuda" else None
        self._adam = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=0.0 if self._learning_rate is None else self._learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=True,
            capturable=self._learning_rate is not None,
        )
        for p in parameters.values():  # as AdamW would at its first step, but now, so that a state can be loaded
            self._adam.state[p] = {
                "step": torch.zeros((), dtype=torch.float32, device=p.device),
                "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p),
            }

    def update(self, learning_rate: float | Tensor, bad: Tensor, factor: Tensor | None = None) -> None:
        if self._learning_rate is None:
            for group in self._adam.param_groups:
                group["lr"] = float(learning_rate)
        elif isinstance(learning_rate, Tensor):
            self._learning_rate.copy_(learning_rate)
        else:
            self._learning_rate.fill_(learning_rate)
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


def _decays(name: str, parameter: nn.Parameter) -> bool:
    # The biases of an LSTM are one tensor for both directions [2, 4H], so the shape alone does not tell.
    return parameter.ndim >= 2 and name.rpartition(".")[2] != "bias"
