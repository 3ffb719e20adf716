"""`pretrain`: a whole training run, from a corpus store to a model directory. It can stop anywhere and go on."""

import logging
import os
import time
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import Tensor

from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.disk.guarded.plainfiles import refusing
from elmo.errors import ConfigError, ElmoError, ResumeError
from elmo.lm.languagemodel import LanguageModel
from elmo.lm.perplexity import Perplexity
from elmo.ops.cpu.allocator import keep_freed_memory
from elmo.ops.device import free_memory
from elmo.pretrain.card import training_card
from elmo.pretrain.checkpoint import (
    FOLDER,
    best_checkpoint,
    find_saved,
    list_checkpoints,
    remove_old,
    require_same_corpus,
    roll_back,
    save_checkpoint,
)
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.forecast import describe_plan, device_name
from elmo.pretrain.memory import MemoryEstimate, estimate_memory
from elmo.pretrain.models import extra_files, loaded_model, new_model, restore_weights
from elmo.pretrain.plan import make_plan
from elmo.pretrain.progress import Evaluation, Progress, continued_config, corpus_identity
from elmo.pretrain.reports import Reports
from elmo.pretrain.result import MODEL, Result, Status
from elmo.pretrain.start import Source, Start, begin_with, find_origin, require_same_start, training_record
from elmo.pretrain.step.guard import Verdict
from elmo.pretrain.trainer import Trainer
from elmo.pretrain.trial import try_out
from elmo.run.alone import alone_in
from elmo.run.curves import draw_curves
from elmo.run.distributed import join_world
from elmo.run.stopping import Reason, StopRequest
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import write_native

logger = logging.getLogger(__name__)


def pretrain(
    store: CorpusStore | str | os.PathLike[str],
    config: TrainConfig | None,
    out_dir: str | os.PathLike[str],
    *,
    resume: bool = False,
    device: str | None = None,
    time_limit: float | None = None,
    start_from: Source | None = None,
    softmax: str | os.PathLike[str] | None = None,
    model: LanguageModel | None = None,
    progress_bar: bool | None = None,
    tensorboard: bool | None = None,
) -> Result:
    """Train on a corpus store until the configured end, Ctrl-C, SIGTERM or `time_limit` seconds.

    `resume` goes on from the newest checkpoint in `out_dir`, or begins where there is none; without a configuration it
    takes the saved one. `start_from` is a trained model to begin with in place of new random weights, `softmax` a file
    for one that has none (`pretrain.start`); `model` is a start in memory, taken as it is. `progress_bar` and
    `tensorboard` are used where there is a terminal and where it is installed, unless told otherwise. Under `torchrun`
    every process calls it.
    """
    run = Path(out_dir)
    if run.is_file():
        raise ConfigError(f"{run}: is a file, but a run is a directory; choose another name")
    opened = store if isinstance(store, CorpusStore) else CorpusStore.open(Path(store))
    with join_world(device) as (world, chosen), alone_in(run) if world.is_first else nullcontext():
        saved = world.say(find_saved(run, resume=resume) if world.is_first else None)
        if saved is not None:
            require_same_corpus(run, saved, opened)
        if world.is_first:
            clean_up(run)
            clean_up(run / FOLDER)
        asked, known = config or TrainConfig(), model is None
        start = None if saved is None else saved.start
        if start_from is None and softmax is None:
            softmax = asked.softmax
        origin = find_origin(asked, None if saved is None else saved.config, start_from, softmax)
        if origin is not None and saved is not None:
            require_same_start(run, start, origin)
        elif origin is not None:
            start, model, asked = begin_with(origin, asked, opened, softmax=softmax)
        with refusing(run, ResumeError):
            config = asked if saved is None else continued_config(saved.config, config)
        vocabulary = len(opened.vocabulary)
        opened.require_known_types()
        plan = make_plan(
            config,
            symbols=len(opened.train_symbols),
            vocabulary=vocabulary,
            world=world.size,
            device="cpu" if chosen.type == "cpu" else "cuda",
        )
        if chosen.type == "cpu":
            keep_freed_memory()
        model = model or new_model(plan.config, vocabulary=vocabulary)
        trainer = Trainer(opened, plan, model=model, world=world, device=chosen)
        progress = Progress()
        if saved is not None:
            trainer.load(saved if world.is_first else None)
            progress = saved.progress
        reports = Reports(
            run,
            plan,
            progress,
            loss=plan.config.loss.kind,
            active=world.is_first,
            bar=progress_bar,
            tensorboard=tensorboard,
        )
        with reports, StopRequest(time_limit=time_limit) as stop:
            loop = _Loop(run, trainer, progress, reports, stop, start=start, is_known=known)
            loop.begin(asked)
            return loop.go()


class _Loop:
    """The loop and what it needs at hand."""

    def __init__(
        self,
        run: Path,
        trainer: Trainer,
        progress: Progress,
        reports: Reports,
        stop: StopRequest,
        *,
        start: Start | None,
        is_known: bool,  # what the model has read before: nothing, or what `start` says
    ) -> None:
        self.start, self.is_known = start, is_known
        self.run, self.trainer, self.progress, self.reports, self.stop = run, trainer, progress, reports, stop
        self.config, self.plan, self.world = trainer.config, trainer.plan, trainer.world
        self.pending: list[tuple[Tensor, Tensor, Tensor]] = []  # losses, norm, bad: not the states, which are large
        self.saving_seconds = 0.0
        self.last_saved = self.mark = time.monotonic()

    def begin(self, asked: TrainConfig) -> None:
        """Save what there is, and tell what will be done; `asked` is the configuration as it was given."""
        trainer, device = self.trainer, self.trainer.device
        if self.progress.step and self.world.is_first:
            self._tell_resumed()
        memory, free = self._memory(), free_memory(device)
        if self.world.is_first and free is not None and memory.total > free:
            logger.warning(
                "the training needs about %.1f GB and there are %.1f; a smaller batch, or accumulate = %d, needs less",
                memory.total / 1e9,
                free / 1e9,
                2 * self.config.accumulate,
            )
        if self.progress.step == 0:
            if self.start is not None:
                self._measure_start()
            self._save()  # a place to roll back to; and a full disk is found now, not in an hour
        if not self._is_over() and self.world.say(self.reports.is_heard):
            seconds = self._seconds_left()
            self.reports.planned(
                describe_plan(
                    self.plan,
                    asked,
                    trainer.store,
                    parameters=sum(p.numel() for p in trainer.model.bilm.parameters()),
                    seconds=seconds,
                    memory=memory,
                    free=free,
                    device=device_name(device, processes=self.world.size),
                )
            )

    def _measure_start(self) -> None:
        """The perplexity before the first step: the weights of the start may turn out to be the best."""
        if self.world.is_first:
            logger.info("start: %s", self.start)
        if self.progress.evaluations:
            self.reports.evaluated(self.progress.evaluations[0])  # measured when the run was begun
        else:
            self._evaluate()

    def _tell_resumed(self) -> None:
        step, steps = self.progress.step, self.plan.steps
        if self._is_over():
            logger.info("%s: is finished already, at step %d; its model is measured and written again", self.run, step)
        else:
            logger.info("%s: going on from step %d of %d", self.run, step, steps)

    def _memory(self) -> MemoryEstimate:
        store = self.trainer.store
        return estimate_memory(
            self.plan,
            vocabulary=len(store.vocabulary),
            types=store.types,
            symbols=len(store.train_symbols),
            world=self.world.size,
        )

    def _seconds_left(self) -> float:
        """By the steps before, or by a trial from which the run goes back to its first checkpoint."""
        progress, plan = self.progress, self.plan
        if progress.step:
            return (plan.steps - progress.step) * progress.seconds / progress.step
        seconds = try_out(self.trainer)
        self.trainer.load(list_checkpoints(self.run)[-1] if self.world.is_first else None)
        return seconds

    def go(self) -> Result:
        """Train to the end or to a stop."""
        self.mark = time.monotonic()
        while not self._is_over():
            self._step()
            step = self.progress.step
            last = step == self.plan.steps
            evaluate = last or step % self.plan.evaluate_every == 0
            save = last or step % self.plan.checkpoint_every == 0
            reason, overdue = self._stop_or_save()
            if not (evaluate or save or reason or overdue or step % self.config.log_every == 0):
                continue
            if self._read_losses() == "diverged":
                self._roll_back()
                continue
            improved = evaluate and self._evaluate()
            if save or improved or reason or overdue:
                self._save()
            self.mark = time.monotonic()
            if reason and not last:
                return self._result(reason)
        return self._finish()

    def _step(self) -> None:
        progress = self.progress
        result = self.trainer.step(progress.step, rate_factor=progress.rate_factor)
        self.pending.append((result.losses, result.norm, result.bad))
        progress.step += 1
        progress.symbols += self.plan.batch_size * self.config.window
        self.reports.stepped()

    def _stop_or_save(self) -> tuple[Reason | None, bool]:
        """Whether to stop and whether a checkpoint is overdue; the first process decides for all, now and then."""
        if self.world.size > 1 and self.progress.step % self.config.log_every:
            return None, False
        minutes = self.config.checkpoint_minutes
        overdue = minutes is not None and time.monotonic() - self.last_saved >= 60 * minutes
        return self.world.say((self.stop.reason(reserve=self.saving_seconds), overdue))

    def _read_losses(self) -> Verdict:
        """Read what the last steps have told; the device is waited for here and nowhere else."""
        progress, results = self.progress, self.pending
        self.pending = []
        losses, norms, bad = (torch.stack(column).tolist() for column in zip(*results, strict=True))
        elapsed = time.monotonic() - self.mark
        self.mark += elapsed
        progress.seconds += elapsed
        verdict: Verdict = "good"
        for n, (each, is_bad) in enumerate(zip(losses, bad, strict=True)):
            verdict = progress.guard.judge(sum(each) / len(each), bad=is_bad, config=self.config.guard)
            if is_bad:
                progress.skipped += 1
                step = progress.step - len(results) + n
                logger.warning("step %d: loss or gradient is not finite; the update is skipped", step)
            if verdict == "diverged":
                break
        good = [each for each, is_bad in zip(losses, bad, strict=True) if not is_bad]
        if good:
            self.reports.trained(
                [sum(column) / len(good) for column in zip(*good, strict=True)],
                learning_rate=self.trainer.learning_rate(progress.step - 1) * progress.rate_factor,
                norm=max(norm for norm, is_bad in zip(norms, bad, strict=True) if not is_bad),
                speed=len(results) * self.plan.batch_size * self.config.window / max(elapsed, 1e-9),
            )
        return verdict

    def _evaluate(self) -> bool:
        """Measure the held-out perplexity; whether it is the best so far."""
        if not len(self.trainer.store.heldout_symbols):
            return False
        measured = None
        if self.world.is_first:
            # Goes on from the states of the training: a young model is lost in any other.
            measured = self.trainer.evaluate(symbol_count=self.config.evaluate_symbols, start=self.trainer.state)
        perplexity = self.world.say(measured)
        assert perplexity is not None
        evaluation = Evaluation(step=self.progress.step, perplexity=perplexity)
        self.progress.evaluations.append(evaluation)
        self.reports.evaluated(evaluation)
        return self.progress.best is evaluation

    def _is_over(self) -> bool:
        patience = self.config.patience  # early stopping
        no_longer_improving = patience is not None and self.progress.since_best >= patience
        return no_longer_improving or self.progress.step >= self.plan.steps

    def _save(self) -> None:
        began = time.monotonic()
        tensors = self.trainer.tensors()
        if self.world.is_first:
            save_checkpoint(
                self.run,
                self._loaded(self.progress),
                tensors,
                config=self.config,
                progress=self.progress,
                corpus=corpus_identity(self.trainer.store.manifest),
                start=self.start,
                card=training_card(self.config, self.trainer.store, step=self.progress.step, start=self.start),
                extra=extra_files(self.trainer.model),
            )
            remove_old(self.run, keep=self.config.keep, guard=self.config.guard)
        self.last_saved = time.monotonic()
        self.saving_seconds = self.last_saved - began

    def _loaded(self, progress: Progress) -> LoadedModel:
        return loaded_model(
            self.trainer.model,
            self.trainer.store,
            tokenizer=None if self.start is None else self.start.tokenizer,
            training=training_record(self.start, progress.symbols) if self.is_known else None,
        )

    def _roll_back(self) -> None:
        guard, progress = self.config.guard, self.progress
        if progress.rollbacks >= guard.rollbacks:
            raise ElmoError(
                f"{self.run}: the training diverged at step {progress.step} again, after {progress.rollbacks} returns "
                f"to an earlier checkpoint; lower optimizer.learning_rate (it was {self.plan.learning_rate:g})"
            )
        saved = self.world.say(roll_back(self.run, guard) if self.world.is_first else None)
        if saved is None:  # the first checkpoint is whole, and one is always kept; but files can be lost
            raise ElmoError(
                f"{self.run}: the training diverged at step {progress.step}, and no whole checkpoint from before that "
                f"is left; start again with a lower optimizer.learning_rate (it was {self.plan.learning_rate:g})"
            )
        self.trainer.load(saved if self.world.is_first else None)
        logger.warning(
            "the training diverged by step %d; back to step %d with the learning rate times %g",
            progress.step,
            saved.progress.step,
            progress.rate_factor * guard.backoff,
        )
        self.progress = saved.progress
        self.progress.rollbacks = progress.rollbacks + 1
        self.progress.rate_factor = progress.rate_factor * guard.backoff
        self.progress.skipped, self.progress.seconds = progress.skipped, progress.seconds
        self.reports.rolled_back(self.progress, diverged_at=progress.step)
        self._save()
        self.mark = time.monotonic()

    def _finish(self) -> Result:
        """Make the model directory from the best weights."""
        status: Status = "finished" if self.progress.step >= self.plan.steps else "no longer improving"
        model, perplexity = self.run / MODEL, None
        if self.world.is_first:
            remove_old(self.run, keep=self.config.keep, guard=self.config.guard)  # if that was killed before
            checkpoints = list_checkpoints(self.run)
            best = best_checkpoint(checkpoints) or checkpoints[-1]
            measured: list[tuple[str, Perplexity]] = []
            restore_weights(self.trainer.model, best.path)
            loaded = self._loaded(best.progress)
            if self.start is not None and best.progress.step == 0:
                logger.warning("%s: nothing was better than the start, so the model is the start", self.run)
            if len(self.trainer.store.heldout_symbols):
                perplexity = self.trainer.evaluate()
                measured = [("held-out", perplexity), ("held-out", self.trainer.evaluate(state="settled"))]
            card = training_card(
                self.config, self.trainer.store, step=best.progress.step, start=self.start, perplexities=measured
            )
            draw_curves(self.run)
            # Last: who finds a model takes the run for finished.
            write_native(loaded, model, card=card, overwrite=True, extra=extra_files(self.trainer.model))
        return self._result(status, model=model, perplexity=self.world.say(perplexity))

    def _result(self, status: Status, *, model: Path | None = None, perplexity: Perplexity | None = None) -> Result:
        return Result(
            status=status,
            step=self.progress.step,
            steps=self.plan.steps,
            run=self.run,
            checkpoint=self.run / FOLDER / f"step-{self.progress.step:08d}",
            model=model,
            perplexity=perplexity,
        )
