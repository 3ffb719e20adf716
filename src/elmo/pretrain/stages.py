"""The runs that one job consists of (a softmax, then all of the model), under one directory and one time limit."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.lm.languagemodel import LanguageModel
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.pretraining import pretrain
from elmo.pretrain.result import Result
from elmo.run.distributed import started_world


class RunOptions(TypedDict, total=False):
    """How `pretrain` runs, whatever it trains; see there."""

    resume: bool
    device: str | None
    time_limit: float | None
    progress_bar: bool | None
    tensorboard: bool | None


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The job in `out`; its options hold for every run, its time limit for all of them together."""

    out: Path
    options: RunOptions
    began: float = field(default_factory=time.monotonic)

    @property
    def resume(self) -> bool:
        """Whether to go on with what there is."""
        return self.options.get("resume", False)

    @property
    def device(self) -> str | None:
        """Where to compute."""
        return self.options.get("device")

    def run(self, name: str, store: CorpusStore, config: TrainConfig, model: LanguageModel) -> Result:
        """Train a model in the directory of a stage, for as long as is left."""
        limit = self.options.get("time_limit")
        left = None if limit is None else max(0.0, self.began + limit - time.monotonic())
        options: RunOptions = {**self.options, "time_limit": left}
        return pretrain(store, config, self.out / name, model=model, **options)


def begin_stages(out: Path, options: RunOptions) -> Stages:
    """A job whose time runs from now; what a killed one left unfinished is removed."""
    if started_world().is_first:
        clean_up(out)
    return Stages(out=out, options=options)
