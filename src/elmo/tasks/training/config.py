"""`TaskTrainConfig`: what the trainer is told, for any task."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.errors import ConfigError
from elmo.model.fields import formerly
from elmo.ops.device import FORMER_PRECISIONS, TrainingPrecision


@dataclass(frozen=True, kw_only=True)
class TaskTrainConfig:
    """A training run. `batch_size`: examples of a step. `learning_rate`: Adam's, constant or decaying to zero.

    `patience`: epochs without a better score on dev before the run ends (None: never). `fraction`: how much of the
    training examples to use, the same ones for the same seed. `precision`: "auto" is bfloat16 on a GPU that has it.
    `cuda_graphs`: whether steps on a GPU are recorded, where model and data allow it; it may change when a run goes on.
    """

    epochs: int = 30
    batch_size: int = field(default=32, metadata=formerly("batch"))
    learning_rate: float = field(default=1e-3, metadata=formerly("rate"))
    schedule: Literal["constant", "linear"] = "linear"
    warmup: float = 0.0  # the fraction of all steps over which the learning rate rises
    weight_decay: float = 0.0
    clip: float | None = 5.0  # of the norm of all gradients together
    patience: int | None = 10
    fraction: float = 1.0
    precision: TrainingPrecision = field(default="auto", metadata=formerly(values=FORMER_PRECISIONS))
    cuda_graphs: bool = True
    checkpoint_minutes: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"train.{name} is {value}; it must be at least 1")
        if self.learning_rate <= 0 or (self.clip is not None and self.clip <= 0):
            told = f"train.learning_rate is {self.learning_rate} and train.clip {self.clip}"
            raise ConfigError(f"{told}; they must be above 0")
        if not 0 < self.fraction <= 1:
            raise ConfigError(f"train.fraction is {self.fraction}; it must be above 0 and at most 1")
        if not 0 <= self.warmup < 1 or self.weight_decay < 0 or self.checkpoint_minutes < 0 or self.seed < 0:
            raise ConfigError("train.warmup is from 0 and below 1; weight_decay, checkpoint_minutes and seed from 0")


def learning_rate_at(step: int, steps: int, config: TaskTrainConfig) -> float:
    """The learning rate of a step."""
    rising = config.warmup * steps
    if step < rising:
        return config.learning_rate * (step + 1) / (rising + 1)
    if config.schedule == "constant":
        return config.learning_rate
    return config.learning_rate * (steps - step) / max(1.0, steps - rising)
