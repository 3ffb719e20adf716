"""Recipes of fine-tuning that are tried: rows, rate, passes, optimizer, dropout, and which parameters learn."""

import dataclasses
from typing import Literal

from elmo.pretrain.config import TrainConfig
from elmo.pretrain.defaults import complete_tuning
from elmo.pretrain.step.optimizers import AdamConfig, MuonConfig
from elmo.run.schedule import ScheduleConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tuning:
    """One way to tune. `rows`: None is what the text's size gives. `head`: epochs of the softmax alone before.

    `wide`: whether it is tried on texts that no classifier is trained on, too.
    """

    rows: int | None = None
    rate: float = 3e-4
    epochs: float = 1.0
    optimizer: Literal["adam", "muon"] = "adam"
    dropout: float = 0.1
    decay: float = 0.0
    trained: tuple[str, ...] = ("",)  # beginnings of the names of parameters that learn
    head: float = 0.0
    wide: bool = False
    by_place: bool = False  # negatives drawn by a word's place in the model's vocabulary, as it was at first

    def config(self, symbols: int, *, epochs: float, rate: float) -> TrainConfig:
        kind = AdamConfig if self.optimizer == "adam" else MuonConfig
        config = TrainConfig(
            batch_size=self.rows,
            epochs=epochs,
            dropout=self.dropout,
            optimizer=kind(learning_rate=rate, weight_decay=self.decay),
            schedule=ScheduleConfig(warmup=0.05, hold=0.1, final=0.05),
        )
        return complete_tuning(config, symbols=symbols)


LSTM, TOP, SOFTMAX = ("bilm.lstm", "head"), ("bilm.lstm.layers.1", "head"), ("head",)

RECIPES: dict[str, Tuning] = {
    "adam 3e-4 x1": Tuning(wide=True),
    "adam 3e-4 x3": Tuning(epochs=3, wide=True),
    "adam 1e-4 x1": Tuning(rate=1e-4),
    "8 rows, 3e-4 x3, by place": Tuning(rows=8, epochs=3, by_place=True),  # as it was at first
    "muon 3e-4 x1": Tuning(optimizer="muon"),
    "adam 1e-3 x1": Tuning(rate=1e-3),
    "adam 3e-4 x1 by place": Tuning(by_place=True),
    "lstm 3e-4 x1": Tuning(trained=LSTM),
    "adam 3e-4 x3 dropout 0.3": Tuning(epochs=3, dropout=0.3),
    "muon 1e-3 x1": Tuning(optimizer="muon", rate=1e-3),
    "softmax first, 3e-4 x1": Tuning(head=1.0),
    "top 3e-4 x3": Tuning(trained=TOP, epochs=3),
    "softmax alone 1e-3 x3": Tuning(trained=SOFTMAX, rate=1e-3, epochs=3),
}
