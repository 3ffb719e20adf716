"""Checkpoints of a run: directories that are whole or absent, and that are loadable models as well.

`RUN/checkpoints/step-00001000/` is a native model with two more files: `training.json` (configuration, counters, what
the corpus was, sizes of the files) and `training.safetensors` (optimizer and recurrent states).
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from elmo.corpus.store import CorpusStore
from elmo.disk.differences import first_difference
from elmo.disk.directories import PREVIOUS, clean_up, recover
from elmo.disk.guarded.plainfiles import read_json, refusing, require_file, shortened
from elmo.disk.temporaries import remove_directory
from elmo.disk.writing import errors_naming
from elmo.errors import ElmoError, ResumeError
from elmo.model.fields import read_fields
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.progress import Progress, corpus_identity
from elmo.pretrain.start import Start, to_dict
from elmo.pretrain.step.guard import GuardConfig
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import WEIGHTS, write_native

logger = logging.getLogger(__name__)

FORMAT = 1
FOLDER = "checkpoints"
TRAINING_JSON, TRAINING_TENSORS = "training.json", "training.safetensors"
NAME = re.compile(r"step-\d{8,}(-left-\d+)?")  # "left": the best of what a roll-back has left behind
MOST_JSON_BYTES = 64 << 20  # some hundred bytes for each evaluation of a run


@dataclass(frozen=True, kw_only=True)
class _Saved:
    """What `training.json` holds."""

    format: int
    corpus: str
    config: TrainConfig
    progress: Progress
    bytes: dict[str, int]  # of the files with tensors
    start: Start | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A complete checkpoint on disk, without its tensors."""

    path: Path
    config: TrainConfig
    progress: Progress
    corpus: str
    start: Start | None = None  # the model that the run began with, unless that was new

    @property
    def perplexity(self) -> float | None:
        """Held-out, of exactly these weights; None where it was not measured."""
        last = self.progress.evaluations[-1:]
        return last[0].perplexity.average if last and last[0].step == self.progress.step else None

    def tensors(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
        """The training tensors, which must have these names and shapes."""
        return read_tensors(self.path / TRAINING_TENSORS, shapes)


def save_checkpoint(
    run: Path,
    model: LoadedModel,
    tensors: Mapping[str, Tensor],
    *,
    config: TrainConfig,
    progress: Progress,
    corpus: str,
    start: Start | None = None,
    card: str | None = None,
    extra: Mapping[str, Callable[[Path], None]] | None = None,
) -> Checkpoint:
    """Write a checkpoint of the current step; an earlier one of the same step is replaced.

    `extra` are further files of the model, each written by a function of its path.
    """
    path = run / FOLDER / f"step-{progress.step:08d}"

    def write_tensors_file(file: Path) -> None:
        write_tensors(file, {name: tensor.detach().to("cpu") for name, tensor in tensors.items()})

    def write_json(file: Path) -> None:
        values = {
            "format": FORMAT,
            "corpus": corpus,
            "config": config.to_dict(),
            "progress": progress.to_dict(),
            "start": None if start is None else to_dict(start),
            "bytes": {name: (file.parent / name).stat().st_size for name in (WEIGHTS, TRAINING_TENSORS)},
        }
        file.write_text(json.dumps(values, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    extra = {**(extra or {}), TRAINING_TENSORS: write_tensors_file, TRAINING_JSON: write_json}
    with errors_naming(path):
        write_native(model, path, card=card, overwrite=True, extra=extra)
    return Checkpoint(path=path, config=config, progress=progress, corpus=corpus, start=start)


def read_checkpoint(path: Path) -> Checkpoint:
    """A checkpoint of this or another run; fails where it is not complete."""
    file = path / TRAINING_JSON
    values = read_json(file, most_bytes=MOST_JSON_BYTES, refusal=ResumeError)
    if values.get("format") != FORMAT:
        raise ResumeError(f"{file}: format is {shortened(values.get('format'))}, but {FORMAT} is wanted")
    with refusing(file, ResumeError):
        saved = read_fields(_Saved, values, where=str(file))
        for name in (WEIGHTS, TRAINING_TENSORS):
            found, size = require_file(path / name, refusal=ResumeError), saved.bytes.get(name)
            if found != size:
                raise ResumeError(f"{path / name}: has {found} bytes, but {size} are wanted; it is damaged")
        config = saved.config
        if config.size is None and config.model is None:  # written before 0.1, when nothing meant small
            config = config.replace(size="small")
        return Checkpoint(path=path, config=config, progress=saved.progress, corpus=saved.corpus, start=saved.start)


def list_checkpoints(run: Path) -> list[Checkpoint]:
    """The complete checkpoints of a run, oldest first. A damaged one is left out, with a warning.

    What was saved after a roll-back is newer than all before it, also at a lower step.
    """
    folder = run / FOLDER
    if not folder.is_dir():
        return []
    for entry in folder.iterdir():
        if set_aside := PREVIOUS.fullmatch(entry.name):
            recover(folder / set_aside[1])
    found = []
    for path in folder.iterdir():
        if NAME.fullmatch(path.name):
            try:
                found.append(read_checkpoint(path))
            except ElmoError as error:
                logger.warning("%s; it is not used", error)
    return sorted(found, key=lambda c: (c.progress.rollbacks, c.progress.step))


def find_saved(run: Path, *, resume: bool) -> Checkpoint | None:
    """The checkpoint to go on from, if there is one; a run that is there and not to be resumed is refused."""
    checkpoints = list_checkpoints(run)
    if resume:
        return checkpoints[-1] if checkpoints else None
    if checkpoints or ((run / FOLDER).is_dir() and any((run / FOLDER).iterdir())):
        raise ResumeError(f"{run}: holds a run already; resume it, or choose another directory")
    return None


def require_same_corpus(run: Path, saved: Checkpoint, store: CorpusStore) -> None:
    """Refuse to go on with other text than the run was begun with."""
    difference = first_difference({"corpus": saved.corpus}, {"corpus": corpus_identity(store.manifest)})
    if difference is not None:
        raise ResumeError(
            f"{run}: was trained on another corpus than {store.folder} ({difference}); use that one, or a new run"
        )


def best_checkpoint(checkpoints: list[Checkpoint]) -> Checkpoint | None:
    """The one with the lowest held-out perplexity."""
    return min((c for c in checkpoints if c.perplexity is not None), key=lambda c: c.perplexity or 0.0, default=None)


def roll_back(run: Path, guard: GuardConfig) -> Checkpoint | None:
    """The newest checkpoint from before a divergence; newer ones are removed, unless they are the best.

    The best makes way by its name: the run will come to its step again.
    """
    checkpoints = list_checkpoints(run)
    best, good = best_checkpoint(checkpoints), newest_stable(checkpoints, guard)
    if good is None:
        return None
    for checkpoint in checkpoints[checkpoints.index(good) + 1 :]:
        if checkpoint is best:
            checkpoint.path.rename(f"{checkpoint.path}-left-{checkpoint.progress.rollbacks}")
        else:
            remove_directory(checkpoint.path)
    return good


def newest_stable(checkpoints: list[Checkpoint], guard: GuardConfig) -> Checkpoint | None:
    """The last one at which nothing was wrong: where a divergence goes back to."""
    return next((c for c in reversed(checkpoints) if c.progress.guard.is_stable(guard)), None)


def remove_old(run: Path, *, keep: int, guard: GuardConfig) -> None:
    """Keep the newest `keep`, the best and the newest stable one; remove the rest and what interrupted writing left."""
    checkpoints = list_checkpoints(run)
    kept = (best_checkpoint(checkpoints), newest_stable(checkpoints, guard))
    # First what was set aside for a replacement: it would come back when the checkpoint in its place is gone.
    clean_up(run / FOLDER)
    for checkpoint in checkpoints[:-keep]:
        if not any(checkpoint is one for one in kept):
            remove_directory(checkpoint.path)
