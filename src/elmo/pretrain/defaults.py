"""What a configuration leaves open, chosen by the text and the device: the size of the model, rows, passes, samples.

On a CPU the choices are made for about an hour on two cores, on a GPU for the best model. The measurements behind them
are in dev/log.md, "What a laptop can train in an hour".
"""

import math
from typing import Literal

from elmo.pretrain.choices import Size
from elmo.pretrain.config import TrainConfig

DeviceType = Literal["cpu", "cuda"]

SIZES: dict[DeviceType, Size] = {"cpu": "mini", "cuda": "small"}
SAMPLES: dict[DeviceType, int] = {"cpu": 2048, "cuda": 8192}
FEWEST_ROWS: dict[DeviceType, int] = {"cpu": 8, "cuda": 4}
EVALUATE_SYMBOLS: dict[DeviceType, int] = {"cpu": 10_000, "cuda": 50_000}  # a large vocabulary makes them dear
MOST_ROWS: dict[DeviceType, int] = {"cpu": 128, "cuda": 512}
STEPS_OF_AN_EPOCH = 1000  # aimed at where the number of rows is ours to choose
# A trained model walks far from where it was in many noisy steps: for the same text fewer and calmer ones. (dev/log.md)
STEPS_OF_AN_EPOCH_OF_TUNING, MOST_ROWS_OF_TUNING = 150, 128
EVALUATIONS_OF_AN_EPOCH_OF_TUNING = 4
# A text of 50 thousand words is learnt by heart after five passes, one of 300 thousand after nine.
EPOCHS, EPOCHS_TO_START_WITH, EPOCHS_FOR_TEN_TIMES_THE_TEXT, SMALL_TEXT = 10.0, 5.0, 4.5, 50_000
SYMBOLS_OF_AN_HOUR = 14_000_000  # with the size for a CPU, on two cores


def complete_config(config: TrainConfig, *, symbols: int, device: DeviceType, world: int = 1) -> TrainConfig:
    """The configuration with nothing left open, for a training split of `symbols` words and sentence ends."""
    size = config.size
    if size is None and config.model is None:
        size = SIZES[device]
    return config.replace(
        size=size,
        model=config.model,
        loss=config.loss.with_samples(SAMPLES[device]),
        batch_size=config.batch_size or choose_rows(symbols, window=config.window, device=device, world=world),
        evaluate_symbols=config.evaluate_symbols or EVALUATE_SYMBOLS[device],
        epochs=config.epochs if config.epochs is not None else choose_epochs(symbols, device=device),
    )


def choose_rows(symbols: int, *, window: int, device: DeviceType, world: int = 1) -> int:
    """A power of two times the processes that gives an epoch some thousand steps, within bounds.

    A text that does not fill the fewest rows of a process gets as many as it fills.
    """
    wanted = min(MOST_ROWS[device], symbols / (window * STEPS_OF_AN_EPOCH)) / world
    rows = 2 ** int(math.log2(wanted)) if wanted >= 1 else 1
    return int(min(max(rows, FEWEST_ROWS[device]), max(1, symbols // window // world))) * world


def complete_tuning(config: TrainConfig, *, symbols: int, world: int = 1) -> TrainConfig:
    """The rows of fine-tuning, and how often it is measured, where they are left open."""
    rows = config.batch_size
    if rows is None:
        wanted = min(MOST_ROWS_OF_TUNING, symbols / (config.window * STEPS_OF_AN_EPOCH_OF_TUNING))
        rows = math.ceil(2 ** int(math.log2(max(1.0, wanted))) / world) * world
    windows = symbols // (rows * config.window)
    steps = min(windows, config.steps or windows)  # of a pass, or of less than one
    every = config.evaluate_every or max(1, math.ceil(steps / EVALUATIONS_OF_AN_EPOCH_OF_TUNING))
    return config.replace(batch_size=rows, evaluate_every=every)


def choose_epochs(symbols: int, *, device: DeviceType) -> float:
    """Passes over a text: fewer over a small one, which is learnt by heart, and over a large one on a CPU."""
    grown = math.log10(max(symbols, SMALL_TEXT) / SMALL_TEXT)
    epochs = min(EPOCHS, EPOCHS_TO_START_WITH + EPOCHS_FOR_TEN_TIMES_THE_TEXT * grown)
    if device == "cpu":
        epochs = min(epochs, max(1.0, SYMBOLS_OF_AN_HOUR / symbols))
    return round(epochs, 1)
