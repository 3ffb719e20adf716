"""The checkpoint of a task's training: one directory, replaced whole, with all that going on exactly needs."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from elmo.disk.directories import atomic_directory, recover
from elmo.disk.guarded.plainfiles import read_json
from elmo.disk.writing import errors_naming
from elmo.errors import ConfigError, ResumeError, WeightsError
from elmo.model.fields import read_fields
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors

FOLDER, PROGRESS, TENSORS = "checkpoint", "progress.json", "tensors.safetensors"
MOST_PROGRESS_BYTES = 64 << 20


@dataclass(kw_only=True)
class TaskProgress:
    """How far a run has come. `identity` says of what run, as `elmo.tasks.training.identity` has it."""

    identity: Any
    epoch: int = 0  # epochs finished
    step_in_epoch: int = 0
    loss: float = 0.0  # sum over the steps of the epoch begun
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)  # one entry an epoch: loss, scores, seconds
    best_epoch: int | None = None  # counted from 1

    def __post_init__(self) -> None:
        best = 0 if self.best_epoch is None else self.best_epoch  # the first epoch is the best so far, and so some are
        if self.step_in_epoch < 0 or self.epoch != len(self.history) or not min(1, self.epoch) <= best <= self.epoch:
            raise ConfigError("progress: epochs are counted wrongly; the checkpoint is damaged")
        if not all(map(_is_epoch, self.history)):
            raise ConfigError("progress: history lacks a loss, scores or seconds; the checkpoint is damaged")

    @property
    def best(self) -> dict[str, Any] | None:
        """The history's entry of the best epoch."""
        return None if self.best_epoch is None else self.history[self.best_epoch - 1]


def _is_epoch(entry: Mapping[str, Any]) -> bool:
    scores = entry.get("scores")
    if not isinstance(scores, dict):
        return False
    return all(
        isinstance(number, int | float) for number in (entry.get("loss"), entry.get("seconds"), *scores.values())
    )


def save_task_checkpoint(run: Path, progress: TaskProgress, tensors: Mapping[str, Tensor]) -> None:
    """Write the checkpoint of a run in place of the one before."""
    path = run / FOLDER
    with errors_naming(path), atomic_directory(path, overwrite=True, replaceable=_is_checkpoint) as folder:
        write_tensors(folder / TENSORS, {name: tensor.detach().cpu() for name, tensor in tensors.items()})
        (folder / PROGRESS).write_text(json.dumps(asdict(progress), indent=1) + "\n", encoding="utf-8")


def read_progress(run: Path) -> TaskProgress | None:
    """The progress of a run; None where there is no checkpoint."""
    recover(run / FOLDER)
    path = run / FOLDER / PROGRESS
    if not path.is_file():
        return None
    try:
        values = read_json(path, most_bytes=MOST_PROGRESS_BYTES, refusal=ResumeError)
        return read_fields(TaskProgress, values, where=str(path))
    except (ResumeError, ConfigError) as error:
        raise ResumeError(f"{error}; remove {path.parent} to begin anew") from None


def read_checkpoint_tensors(run: Path) -> dict[str, Tensor]:
    """All tensors of the checkpoint."""
    path = run / FOLDER / TENSORS
    try:
        return read_tensors(path, {name: info.shape for name, info in read_header(path).items()})
    except WeightsError as error:
        raise ResumeError(f"{error}; remove {path.parent} to begin anew") from None


def _is_checkpoint(path: Path) -> bool:
    return (path / PROGRESS).is_file()
