"""`TrainingLoop`: epochs, early stopping on dev, checkpoints, what is told on the way, and the model at the end."""

import dataclasses
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from tqdm import tqdm

from elmo.errors import ElmoError
from elmo.run.metrics import Metrics
from elmo.run.stopping import StopRequest
from elmo.tasks.training.batching import epoch_batches
from elmo.tasks.training.checkpoint import FOLDER, TaskProgress, save_task_checkpoint
from elmo.tasks.training.config import TaskTrainConfig
from elmo.tasks.training.directory import MODEL, save_trained_task
from elmo.tasks.training.learner import Learner
from elmo.tasks.training.trained import TrainedTask

logger = logging.getLogger(__name__)

SHOW_LOSS_EVERY = 20  # steps; reading it makes the host wait for the device
Status = Literal["finished", "no longer improving", "interrupted", "time limit"]


@dataclass(frozen=True, kw_only=True)
class TrainResult:
    """How a run ended. Unless it is `done`, the same call with `resume=True` goes on."""

    status: Status
    run: Path
    epochs: int
    best_epoch: int | None
    scores: dict[str, float]  # on dev, of the best epoch
    seconds: float  # of training and scoring, over all resumptions
    epoch_seconds: list[float]  # of training alone
    trained: TrainedTask | None

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.status in ("finished", "no longer improving")


class TrainingLoop:
    """The loop and what it needs at hand."""

    def __init__(
        self,
        run: Path,
        learner: Learner,
        progress: TaskProgress,
        metrics: Metrics,
        stop: StopRequest,
        *,
        bar: bool | None,
    ) -> None:
        self.run, self.learner, self.progress, self.metrics, self.stop = run, learner, progress, metrics, stop
        self.config: TaskTrainConfig = learner.config
        self.show = bar
        self.last_saved = time.monotonic()

    def go(self) -> TrainResult:
        """Train to the end or to a stop."""
        while self.progress.epoch < self.config.epochs and not self._is_out_of_patience():
            began = time.monotonic()
            reason = self._epoch()
            if reason is not None:
                self.progress.seconds += time.monotonic() - began
                self._save()
                return self._result(reason)
            self._finish_epoch(time.monotonic() - began)
            if time.monotonic() - self.last_saved >= 60 * self.config.checkpoint_minutes:
                self._save()
        return self._finish()

    def _epoch(self) -> Status | None:
        """The rest of an epoch; why it was broken off, if so."""
        progress, learner = self.progress, self.learner
        batches = epoch_batches(
            learner.data.lengths, batch=self.config.batch_size, seed=self.config.seed, epoch=progress.epoch
        )
        losses: list[Tensor] = []
        with self._bar(len(batches)) as bar:
            for rows in batches[progress.step_in_epoch :]:
                reason = self.stop.reason()
                if reason is not None:
                    learner.settle()
                    progress.loss += _total(losses)
                    return reason
                losses.append(learner.step(rows, learner.global_step(progress)))
                progress.step_in_epoch += 1
                bar.update()
                if not bar.disable and len(losses) % SHOW_LOSS_EVERY == 0:
                    bar.set_postfix(loss=f"{float(losses[-1]):.3f}", refresh=False)
        learner.settle()
        progress.loss += _total(losses)
        return None

    def _finish_epoch(self, seconds: float) -> None:
        progress, learner = self.progress, self.learner
        loss = progress.loss / max(1, progress.step_in_epoch)
        step = learner.global_step(progress)
        if loss != loss:
            raise ElmoError(
                f"{self.run}: the loss is not a number in epoch {progress.epoch + 1}; lower train.learning_rate "
                f"(it was {self.config.learning_rate})"
            )
        began = time.monotonic()
        scores = learner.score()
        scoring = time.monotonic() - began
        progress.epoch, progress.step_in_epoch, progress.loss = progress.epoch + 1, 0, 0.0
        progress.seconds += seconds + scoring
        progress.history.append({"loss": loss, "scores": scores, "seconds": seconds, "scoring_seconds": scoring})
        metric = learner.task.metric
        if progress.best is None or scores[metric] > progress.best["scores"][metric]:
            progress.best_epoch = progress.epoch
            learner.keep_as_best()
        mixes = learner.model.embedding.mix_weights()
        self.metrics.write("train", step, {"epoch": progress.epoch, "loss": loss, "seconds": seconds})
        self.metrics.write("dev", step, {"epoch": progress.epoch, **scores})
        if mixes:
            self.metrics.write("mix", step, {"epoch": progress.epoch, "mixes": mixes})
        logger.info("epoch %d: loss %.4f, dev %s %.2f, %.1f s", progress.epoch, loss, metric, scores[metric], seconds)

    def _is_out_of_patience(self) -> bool:
        progress, patience = self.progress, self.config.patience
        return patience is not None and progress.epoch - (progress.best_epoch or 0) >= patience and progress.epoch > 0

    def _save(self) -> None:
        save_task_checkpoint(self.run, self.progress, self.learner.tensors())
        self.last_saved = time.monotonic()

    def _finish(self) -> TrainResult:
        """Write the model from the best weights; the checkpoint is not needed any more."""
        learner, progress = self.learner, self.progress
        assert learner.best is not None
        assert progress.best is not None
        learner.model.load_state_dict(learner.best)
        status: Status = "finished" if progress.epoch >= self.config.epochs else "no longer improving"
        facts = {
            "identity": progress.identity,
            "status": status,
            "dev_scores": progress.best["scores"],
            "best_epoch": progress.best_epoch,
            "epochs": progress.epoch,
            "seconds": progress.seconds,
            "epoch_seconds": [entry["seconds"] for entry in progress.history],
            "mixes": learner.model.embedding.mix_weights(),
        }
        trained = dataclasses.replace(learner.trained, facts=facts)
        save_trained_task(trained, self.run / MODEL)
        shutil.rmtree(self.run / FOLDER, ignore_errors=True)
        return self._result(status, trained)

    def _result(self, status: Status, trained: TrainedTask | None = None) -> TrainResult:
        progress = self.progress
        return TrainResult(
            status=status,
            run=self.run,
            epochs=progress.epoch,
            best_epoch=progress.best_epoch,
            scores={} if progress.best is None else progress.best["scores"],
            seconds=progress.seconds,
            epoch_seconds=[entry["seconds"] for entry in progress.history],
            trained=trained,
        )

    @contextmanager
    def _bar(self, total: int) -> Iterator[Any]:
        best = self.progress.best
        metric = self.learner.task.metric
        so_far = "" if best is None else f", best {metric} {best['scores'][metric]:.2f}"
        with tqdm(
            total=total,
            initial=self.progress.step_in_epoch,
            desc=f"epoch {self.progress.epoch + 1}/{self.config.epochs}{so_far}",
            unit="step",
            leave=False,
            disable=None if self.show is None else not self.show,
        ) as bar:
            yield bar


def _total(losses: list[Tensor]) -> float:
    return float(torch.stack(losses).double().sum()) if losses else 0.0
