"""`TaskTrainConfig`: what the trainer is told, for any task."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.errors import ConfigError
from elmo.model.fields import formerly
from elmo.ops.device import FORMER_PRECISIONS, TrainingPrecision


@dataclass(frozen=True, kw_only=True)
class TaskTrainConfig:
    """A training run. `batch_size`: examples of a step. `rate`: the learning rate of Adam, constant or
    decaying to zero over all epochs.

    `patience`: epochs without a better score on dev before the run ends (None: never). `fraction`: the share of the
    training examples to use, the same ones for the same seed. `precision`: "auto" is bfloat16 on a GPU that has it.
    """

    epochs: int = 30
    batch_size: int = field(default=32, metadata=formerly("batch"))
    rate: float = 1e-3
    schedule: Literal["constant", "linear"] = "linear"
    warmup: float = 0.0  # the share of all steps over which the rate rises
    weight_decay: float = 0.0
    clip: float | None = 5.0  # of the norm of all gradients together
    patience: int | None = 10
    fraction: float = 1.0
    precision: TrainingPrecision = field(default="auto", metadata=formerly(values=FORMER_PRECISIONS))
    checkpoint_minutes: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"train.{name} is {value}; it must be at least 1")
        if self.rate <= 0 or (self.clip is not None and self.clip <= 0):
            raise ConfigError(f"train.rate is {self.rate} and train.clip {self.clip}; they must be above 0")
        if not 0 < self.fraction <= 1:
            raise ConfigError(f"train.fraction is {self.fraction}; it must be above 0 and at most 1")
        if not 0 <= self.warmup < 1 or self.weight_decay < 0 or self.checkpoint_minutes < 0 or self.seed < 0:
            raise ConfigError("train.warmup is from 0 and below 1; weight_decay, checkpoint_minutes and seed from 0")


def learning_rate_at(step: int, steps: int, config: TaskTrainConfig) -> float:
    """The learning rate of a step."""
    rising = config.warmup * steps
    if step < rising:
        return config.rate * (step + 1) / (rising + 1)
    if config.schedule == "constant":
        return config.rate
    return config.rate * (steps - step) / max(1.0, steps - rising)
