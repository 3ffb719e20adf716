"""What a run will do, worked out from its configuration and the corpus before it starts: nothing to count by hand."""

import math
from dataclasses import dataclass

from elmo.errors import ConfigError
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.data.streams import windows_per_epoch
from elmo.pretrain.defaults import DeviceType, complete_config

EVALUATIONS = 20  # in a run, at least
# Smaller models bear and want higher learning rates: 1.2e-3 was stable for 4,096 cells over 500 M tokens, 1.6e-3 for
# 2,048 over 2 billion; with 1,024 cells 2.4e-3 was 9 % better than 1.2e-3, with 256 4e-3 to 8e-3 were best
# (dev/log.md).
LEARNING_RATE, LEARNING_RATE_CELLS = 1.2e-3, 4096


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A configuration with nothing left open, and the numbers that follow from it and the corpus."""

    config: TrainConfig
    learning_rate: float
    batch_size: int
    steps_per_epoch: int
    steps: int
    samples: int | None  # None: the loss needs none
    evaluate_every: int
    checkpoint_every: int


def make_plan(
    config: TrainConfig, *, symbols: int, vocabulary: int, world: int = 1, device: DeviceType = "cuda"
) -> Plan:
    """The plan for a training split of `symbols` words and sentence ends."""
    config = complete_config(config, symbols=symbols, device=device, world=world)
    batch_size, epochs = config.batch_size, config.epochs
    assert batch_size is not None
    assert epochs is not None
    if batch_size % world:
        raise ConfigError(f"batch_size is {batch_size}, but {world} processes share it; use a multiple of {world}")
    windows = windows_per_epoch(symbols, batch=batch_size, window=config.window)
    steps = config.steps or max(1, round(epochs * windows))
    evaluate_every = config.evaluate_every or max(1, min(windows, math.ceil(steps / EVALUATIONS)))
    rate = config.optimizer.learning_rate
    return Plan(
        config=config,
        learning_rate=choose_learning_rate(config.architecture.lstm.cell_dim) if rate is None else rate,
        batch_size=batch_size,
        steps_per_epoch=windows,
        steps=steps,
        samples=config.loss.samples_of(vocabulary),
        evaluate_every=evaluate_every,
        checkpoint_every=config.checkpoint_every or evaluate_every,
    )


def choose_learning_rate(cells: int) -> float:
    """The learning rate of Adam and Muon for a model with so many LSTM cells in a layer."""
    return LEARNING_RATE * math.sqrt(LEARNING_RATE_CELLS / cells)
