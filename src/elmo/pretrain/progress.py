"""Progress: what a run has come to besides weights and states, as a checkpoint's training.json holds it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from elmo.disk.differences import first_difference
from elmo.errors import ResumeError
from elmo.lm.perplexity import Perplexity
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.step.guard import Guard

# What may be changed when a run goes on; all else would make it another run.
CHANGEABLE = (
    "epochs",
    "steps",
    "optimizer",  # its rates; another kind fails
    "schedule",
    "clip",
    "accumulate",
    "precision",
    "guard",
    "log_every",
    "evaluate_every",
    "evaluate_symbols",
    "patience",
    "checkpoint_every",
    "checkpoint_minutes",
    "keep",
)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A held-out perplexity and the step after which it was measured."""

    step: int
    perplexity: Perplexity


@dataclass(kw_only=True)
class Progress:
    """The counters of a run."""

    step: int = 0  # steps done; the next batch is this one
    symbols: int = 0  # read in each direction
    seconds: float = 0.0  # of training, over all resumptions
    skipped: int = 0
    rollbacks: int = 0
    rate_factor: float = 1.0
    guard: Guard = field(default_factory=Guard)
    evaluations: list[Evaluation] = field(default_factory=list)

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the lowest perplexity."""
        return min(self.evaluations, key=lambda e: e.perplexity.average, default=None)

    @property
    def since_best(self) -> int:
        """Evaluations after the best one."""
        return 0 if self.best is None else len(self.evaluations) - 1 - self.evaluations.index(self.best)

    def to_dict(self) -> dict[str, Any]:
        """A mapping, as training.json holds it."""
        return asdict(self)

    def __post_init__(self) -> None:
        if min(self.step, self.symbols, self.skipped, self.rollbacks) < 0 or not self.seconds >= 0:
            raise ResumeError("progress: a counter is below 0; the checkpoint is damaged")


def corpus_identity(manifest: Mapping[str, Any]) -> str:
    """A hash that is the same for the same corpus store."""
    return hashlib.sha256(json.dumps(manifest["hashes"], sort_keys=True).encode()).hexdigest()


def continued_config(saved: TrainConfig, asked: TrainConfig | None) -> TrainConfig:
    """The configuration with which a saved run goes on; fails where what was asked for is another run."""
    if asked is None:
        return saved
    asked = _with_choices_of(saved, asked)
    before, now = saved.to_dict(), asked.to_dict()
    before["model"], now["model"] = saved.architecture.to_dict(), asked.architecture.to_dict()
    before["optimizer"], now["optimizer"] = {"kind": saved.optimizer.kind}, {"kind": asked.optimizer.kind}
    fixed = sorted(before.keys() - {"size", *CHANGEABLE} | {"optimizer"})
    difference = first_difference({name: before[name] for name in fixed}, {name: now[name] for name in fixed})
    if difference is not None:
        raise ResumeError(
            f"{difference}, but a run is resumed as it was begun; leave it so, or start a new run in another directory"
        )
    return asked


def _with_choices_of(saved: TrainConfig, asked: TrainConfig) -> TrainConfig:
    """What is left open stays as it was chosen when the run began."""
    changes: dict[str, Any] = {"start_from": saved.start_from, "softmax": saved.softmax}  # told apart by their hashes
    if asked.size is None and asked.model is None:
        changes |= {"size": saved.size, "model": saved.model}
    for name in ("batch_size", "epochs"):
        if getattr(asked, name) is None:
            changes[name] = getattr(saved, name)
    if asked.loss.kind == saved.loss.kind == "sampled" and asked.loss.samples is None:
        changes["loss"] = saved.loss
    return asked.replace(**changes)
