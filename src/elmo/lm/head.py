"""The output layer of a language model in training: a softmax and the losses that train it.

M positions, P hidden, V vocabulary.
"""

from dataclasses import dataclass, replace
from typing import Literal, Self

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.lm.adaptive import AdaptiveConfig, AdaptiveHead
from elmo.lm.loss import LossConfig
from elmo.ops.softmax import Samples, full_softmax_loss_blocked, full_softmax_loss_chunked, sampled_softmax_loss


@dataclass(frozen=True, kw_only=True)
class SampledConfig(LossConfig):
    """Softmax over the target and shared samples; as many as the vocabulary where that is smaller.

    `samples`: None is a number for the device (`pretrain.defaults`).
    """

    kind: Literal["sampled"] = "sampled"
    samples: int | None = None

    def __post_init__(self) -> None:
        if self.samples is not None and self.samples < 1:
            raise ConfigError(f"loss.samples is {self.samples}; it must be at least 1")

    def with_samples(self, samples: int) -> Self:
        return self if self.samples is not None else replace(self, samples=samples)

    def samples_of(self, vocabulary: int) -> int | None:
        return min(self.samples or vocabulary, vocabulary)


@dataclass(frozen=True, kw_only=True)
class FullConfig(LossConfig):
    """Softmax over the whole vocabulary."""

    kind: Literal["full"] = "full"


class SoftmaxHead(nn.Module):
    """One weight and bias for both directions."""

    def __init__(self, *, vocabulary: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, size))
        self.bias = nn.Parameter(torch.empty(vocabulary))

    def training_losses(self, hidden: Tensor, targets: Tensor, samples: Samples | None) -> Tensor:
        """hidden: [M, P], targets: [M] -> [M]; sampled where there are samples."""
        if samples is None:
            return full_softmax_loss_chunked(hidden, targets, self.weight, self.bias)
        return sampled_softmax_loss(hidden, targets, self.weight, self.bias, samples)

    @property
    def vocabulary(self) -> int:
        """Words it knows (V)."""
        return len(self.weight)

    @torch.no_grad()
    def losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Exact negative log-probabilities: [M]."""
        # Blocks fit a CPU's cache; on a GPU they are more launches than chunks.
        loss = full_softmax_loss_blocked if hidden.device.type == "cpu" else full_softmax_loss_chunked
        return loss(hidden, targets, self.weight, self.bias)

    @torch.no_grad()
    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Of every word: [M, V]."""
        return torch.log_softmax((hidden @ self.weight.T).float() + self.bias, dim=-1)

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """The original's distribution. [bilm-tf training.py, _build_loss]"""
        self.weight.normal_(0.0, self.weight.shape[1] ** -0.5, generator=generator)
        self.bias.zero_()


Head = SoftmaxHead | AdaptiveHead


def make_head(config: SampledConfig | FullConfig | AdaptiveConfig, *, vocabulary: int, size: int) -> Head:
    """The output layer that a loss needs; not initialized."""
    if isinstance(config, AdaptiveConfig):
        return AdaptiveHead(config, vocabulary=vocabulary, size=size)
    return SoftmaxHead(vocabulary=vocabulary, size=size)
