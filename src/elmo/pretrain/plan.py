"""What a run will do, worked out from its configuration and the corpus before it starts: nothing to count by hand."""

import math
from dataclasses import dataclass

from elmo.errors import ConfigError
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.head import SampledConfig
from elmo.pretrain.streams import windows_per_epoch

STEPS_OF_AN_EPOCH = 1000  # aimed at where the batch is ours to choose
MOST_ROWS = 512
EVALUATIONS = 20  # in a run, at least
# Smaller models bear and want higher rates: 1.2e-3 was stable for 4,096 cells over 500 M tokens, 1.6e-3 for 2,048 over
# 2 billion; with 1,024 cells 2.4e-3 was 9 % better than 1.2e-3, with 256 4e-3 to 8e-3 were best (docs/lab-log.md).
RATE, RATE_CELLS = 1.2e-3, 4096


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The numbers that the configuration left to the corpus and the model."""

    rate: float
    batch_size: int
    steps_per_epoch: int
    steps: int
    samples: int | None  # None: the loss needs none
    evaluate_every: int
    checkpoint_every: int


def make_plan(config: TrainConfig, *, symbols: int, vocabulary: int, world: int = 1) -> Plan:
    """The plan for a training split of `symbols` words and sentence ends."""
    batch_size = config.batch_size or choose_batch(symbols, window=config.window, world=world)
    if batch_size % world:
        raise ConfigError(f"batch_size is {batch_size}, but {world} processes share it; use a multiple of {world}")
    windows = windows_per_epoch(symbols, batch=batch_size, window=config.window)
    steps = config.steps or max(1, round(config.epochs * windows))
    evaluate_every = config.evaluate_every or max(1, min(windows, math.ceil(steps / EVALUATIONS)))
    rate = config.optimizer.rate
    return Plan(
        rate=choose_rate(config.architecture.lstm.cell_dim) if rate is None else rate,
        batch_size=batch_size,
        steps_per_epoch=windows,
        steps=steps,
        samples=min(config.loss.samples, vocabulary) if isinstance(config.loss, SampledConfig) else None,
        evaluate_every=evaluate_every,
        checkpoint_every=config.checkpoint_every or evaluate_every,
    )


def choose_rate(cells: int) -> float:
    """The rate of Adam and Muon for a model with so many LSTM cells in a layer."""
    return RATE * math.sqrt(RATE_CELLS / cells)


def choose_batch(symbols: int, *, window: int, world: int = 1) -> int:
    """A power of two times the processes that gives an epoch some thousand steps, up to 512 rows.

    A text that does not fill four rows of a process gets as many as it fills.
    """
    wanted = min(MOST_ROWS, symbols / (window * STEPS_OF_AN_EPOCH)) / world
    rows = 2 ** int(math.log2(wanted)) if wanted >= 1 else 1
    return int(min(max(rows, 4), max(1, symbols // window // world))) * world
