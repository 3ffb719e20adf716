"""`train_task`: one trainer for all tasks. It stops early on dev, can be interrupted anywhere, and goes on exactly."""

import dataclasses
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from tqdm import tqdm

from elmo.disk.directories import clean_up
from elmo.disk.guarded.plainfiles import one_line, refusing
from elmo.errors import ConfigError, ElmoError, InputError, ResumeError
from elmo.ops.device import choose_device, uses_bf16
from elmo.run.metrics import Metrics
from elmo.run.randomness import seed_for
from elmo.run.stopping import StopRequest
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordlist import WordTable
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe
from elmo.tasks.task import check_labels
from elmo.tasks.training.batching import choose_fraction, epoch_batches
from elmo.tasks.training.checkpoint import (
    FOLDER,
    Progress,
    read_checkpoint_tensors,
    read_progress,
    save_checkpoint,
)
from elmo.tasks.training.config import TrainConfig, rate_at
from elmo.tasks.training.dataset import Dataset, autocast
from elmo.tasks.training.directory import (
    MODEL,
    BiLMReference,
    TrainedTask,
    build_model,
    clone_state,
    load_trained_task,
    read_task,
)
from elmo.weights.formats import portable_name
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)

SHOW_LOSS_EVERY = 20  # steps; reading it makes the host wait for the device
OTHER_RUN = "was begun with other options, data or models; go on with those, or begin anew"
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


def train_task(
    name: str,
    recipe: Recipe,
    train: Sequence[Example],
    dev: Sequence[Example],
    out_dir: str | os.PathLike[str],
    *,
    bilm: LoadedModel | None = None,
    vectors: WordVectors | None = None,
    resume: bool = False,
    device: str | torch.device | None = None,
    store: LayerStore | None = None,
    time_limit: float | None = None,
    progress_bar: bool | None = None,
) -> TrainResult:
    """Train until the configured end, no gain on dev, Ctrl-C, SIGTERM or `time_limit` seconds of training.

    The model with the best score on dev comes in the folder `model` of `out_dir`. `vectors` are static word vectors
    (learned ones if None), `store` keeps the layers of a frozen biLM for other runs. `resume` goes on where the run in
    `out_dir` was, or begins.
    """
    run = Path(out_dir)
    if not dev:
        raise InputError("there are no dev examples; early stopping needs some")
    if bilm is None and recipe.embedding.elmo.where != "none":
        raise ConfigError(
            f"elmo.where is {recipe.embedding.elmo.where!r}, but no biLM is given; name one, or set it to 'none'"
        )
    chosen = choose_device(device)
    used = bilm if recipe.embedding.elmo.where != "none" else None
    reference = None if used is None else BiLMReference(sha256=used.sha256, source=portable_name(used.source))
    part = [train[n] for n in choose_fraction(len(train), recipe.train.fraction, seed=recipe.train.seed)]
    examples = recipe.make_task().training_examples(part)
    identity = _identity(recipe, examples, dev, vectors, reference)
    if resume and (run / MODEL).exists():  # written last, and whole: what is missing is the cleaning-up
        finished = _finished(run, identity, bilm=used, device=chosen)
        clean_up(run)  # first: it brings a checkpoint back that was set aside
        shutil.rmtree(run / FOLDER, ignore_errors=True)
        return finished
    saved = _find_saved(run, resume=resume)
    if saved is not None and saved.identity != identity:
        raise ResumeError(f"{run}: {OTHER_RUN}")
    run.mkdir(parents=True, exist_ok=True)
    clean_up(run)
    cuda = [chosen] if chosen.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        # Not yet inside of StopRequest: while layers are computed there is nothing to save, and Ctrl-C ends it at once.
        trainer = _Trainer(
            name, recipe, examples, dev, bilm=used, reference=reference, vectors=vectors, device=chosen, store=store
        )
        progress = saved or Progress(identity=identity)
        if saved is not None:
            with refusing(run / FOLDER, ResumeError):
                trainer.load(read_checkpoint_tensors(run), saved)
        with (
            StopRequest(time_limit=time_limit) as stop,
            Metrics(run, after_step=trainer.global_step(progress), tensorboard=False) as metrics,
        ):
            return _Loop(run, trainer, progress, metrics, stop, bar=progress_bar).go()


def _find_saved(run: Path, *, resume: bool) -> Progress | None:
    saved = read_progress(run)
    if not resume and (saved is not None or (run / MODEL).exists()):
        raise ResumeError(f"{run}: holds a run already; resume it, or choose another directory")
    return saved


def _finished(run: Path, identity: str, *, bilm: LoadedModel | None, device: torch.device) -> TrainResult:
    """The result of a run that has its model."""
    facts = read_task(run / MODEL)
    try:
        if facts["identity"] != identity:
            raise ResumeError(f"{run}: is finished, and {OTHER_RUN}")
        return TrainResult(
            status=facts["status"],
            run=run,
            epochs=int(facts["epochs"]),
            best_epoch=int(facts["best_epoch"]),
            scores=facts["dev_scores"],
            seconds=float(facts["seconds"]),
            epoch_seconds=facts["epoch_seconds"],
            trained=load_trained_task(run / MODEL, bilm=bilm, device=device),
        )
    except (KeyError, TypeError, ValueError):
        raise ResumeError(f"{run}: is finished; its model is {run / MODEL}") from None


class _Trainer:
    """Model, optimizer and data, put together; `step` advances them by one batch."""

    def __init__(
        self,
        name: str,
        recipe: Recipe,
        examples: Sequence[Example],
        dev: Sequence[Example],
        *,
        bilm: LoadedModel | None,
        reference: BiLMReference | None,
        vectors: WordVectors | None,
        device: torch.device,
        store: LayerStore | None,
    ) -> None:
        task = recipe.make_task()
        config = recipe.train
        labels = task.find_labels(examples)
        check_labels(task.find_labels(dev), labels, where="dev")
        table, word_dim = None, 0
        if recipe.embedding.words is not None:
            words = recipe.embedding.words
            if vectors is None and not words.train:
                recipe = recipe.changed({"embedding.words.train": True})  # there is nothing to keep as it is
            table = WordTable.collect((t for e in examples for t in e.texts), vectors, most=words.most)
            word_dim = words.dim if vectors is None else vectors.dim
        torch.manual_seed(seed_for("weights", seed=config.seed))
        model = build_model(recipe, labels, table=table, word_dim=word_dim, bilm=bilm)
        if vectors is not None and table is not None and model.embedding.words is not None:
            model.embedding.words.fill(table, vectors)
        self.device, self.config, self.task = device, config, task
        self.model = model.to(device)
        self.trained = TrainedTask(name=name, recipe=recipe, labels=labels, model=self.model, bilm=reference)
        self.data = Dataset(task, examples, model.embedding, labels=labels, store=store)
        self.dev = Dataset(task, dev, model.embedding, store=store)
        self.bf16 = uses_bf16(config.precision, device, option="train.precision")
        self.learning = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self.optimizer = torch.optim.Adam(
            self.learning.values(), lr=config.rate, weight_decay=config.weight_decay, fused=device.type == "cuda"
        )
        self.best: dict[str, Tensor] | None = None
        self.steps_an_epoch = -(-len(self.data) // config.batch_size)

    def global_step(self, progress: Progress) -> int:
        """Steps done in all epochs."""
        return progress.epoch * self.steps_an_epoch + progress.step_in_epoch

    def step(self, rows: Any, step: int) -> Tensor:
        """Learn from one batch; its loss, on the device."""
        # Each step has random numbers of its own, so a resumed run needs no saved generators.
        torch.manual_seed(seed_for("dropout", seed=self.config.seed, step=step))
        rate = rate_at(step, self.steps_an_epoch * self.config.epochs, self.config)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device, bf16=self.bf16):
            loss = self.model.loss(self.data.batch(rows))
        (loss + self.model.embedding.mix_penalty()).backward()
        if self.config.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.learning.values(), self.config.clip)
        self.optimizer.step()
        return loss.detach()

    def score(self) -> dict[str, float]:
        """Scores on dev."""
        return self.task.score(self.dev.examples, self.trained.answer(self.dev, bf16=self.bf16))

    def tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint holds."""
        found = {f"now.{name}": tensor for name, tensor in self.model.state_dict().items()}
        found |= {f"best.{name}": tensor for name, tensor in (self.best or {}).items()}
        for name, parameter in self.learning.items():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                found[f"adam.{key}.{name}"] = value.float()
        return found

    def load(self, tensors: dict[str, Tensor], progress: Progress) -> None:
        """Go back to what `tensors` gave when the run had come as far as `progress` says."""
        parts: dict[str, dict[str, Tensor]] = {"now": {}, "best": {}, "adam": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            parts.setdefault(kind, {})[rest] = tensor
        try:
            if progress.best is not None:
                self.model.load_state_dict(parts["best"])  # only to see that it fits, before more time is spent
                progress.best["scores"][self.task.metric]
            self.model.load_state_dict(parts["now"])
            for key, tensor in parts["adam"].items():
                kind, _, name = key.partition(".")
                # Adam counts its steps on the host, unless it is the fused one.
                place = self.device if kind != "step" or self.device.type == "cuda" else "cpu"
                self.optimizer.state[self.learning[name]][kind] = tensor.clone().to(place)
            for name, parameter in self.learning.items():
                _require_adam_state(self.optimizer.state.get(parameter, {}), parameter, name=name)
        except (RuntimeError, KeyError) as error:
            raise ResumeError(f"the checkpoint does not fit the model: {one_line(error)}") from None
        self.best = {name: tensor.clone().to(self.device) for name, tensor in parts["best"].items()} or None


class _Loop:
    """The loop and what it needs at hand."""

    def __init__(
        self, run: Path, trainer: _Trainer, progress: Progress, metrics: Metrics, stop: StopRequest, *, bar: bool | None
    ) -> None:
        self.run, self.trainer, self.progress, self.metrics, self.stop = run, trainer, progress, metrics, stop
        self.config: TrainConfig = trainer.config
        self.show = bar
        self.last_saved = time.monotonic()

    def go(self) -> TrainResult:
        """Train to the end or to a stop."""
        while self.progress.epoch < self.config.epochs and not self._is_tired():
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
        progress, trainer = self.progress, self.trainer
        batches = epoch_batches(
            trainer.data.lengths, batch=self.config.batch_size, seed=self.config.seed, epoch=progress.epoch
        )
        losses: list[Tensor] = []
        with self._bar(len(batches)) as bar:
            for rows in batches[progress.step_in_epoch :]:
                reason = self.stop.reason()
                if reason is not None:
                    progress.loss += _total(losses)
                    return reason
                losses.append(trainer.step(rows, trainer.global_step(progress)))
                progress.step_in_epoch += 1
                bar.update()
                if not bar.disable and len(losses) % SHOW_LOSS_EVERY == 0:
                    bar.set_postfix(loss=f"{float(losses[-1]):.3f}", refresh=False)
        progress.loss += _total(losses)
        return None

    def _finish_epoch(self, seconds: float) -> None:
        progress, trainer = self.progress, self.trainer
        loss = progress.loss / max(1, progress.step_in_epoch)
        step = trainer.global_step(progress)
        if loss != loss:
            raise ElmoError(
                f"{self.run}: the loss is not a number in epoch {progress.epoch + 1}; lower train.rate "
                f"(it was {self.config.rate})"
            )
        began = time.monotonic()
        scores = trainer.score()
        scoring = time.monotonic() - began
        progress.epoch, progress.step_in_epoch, progress.loss = progress.epoch + 1, 0, 0.0
        progress.seconds += seconds + scoring
        progress.history.append({"loss": loss, "scores": scores, "seconds": seconds, "scoring_seconds": scoring})
        metric = trainer.task.metric
        if progress.best is None or scores[metric] > progress.best["scores"][metric]:
            progress.best_epoch = progress.epoch
            trainer.best = clone_state(trainer.model)
        mixes = trainer.model.embedding.mix_weights()
        self.metrics.write("train", step, {"epoch": progress.epoch, "loss": loss, "seconds": seconds})
        self.metrics.write("dev", step, {"epoch": progress.epoch, **scores})
        if mixes:
            self.metrics.write("mix", step, {"epoch": progress.epoch, "mixes": mixes})
        logger.info("epoch %d: loss %.4f, dev %s %.2f, %.1f s", progress.epoch, loss, metric, scores[metric], seconds)

    def _is_tired(self) -> bool:
        progress, patience = self.progress, self.config.patience
        return patience is not None and progress.epoch - (progress.best_epoch or 0) >= patience and progress.epoch > 0

    def _save(self) -> None:
        save_checkpoint(self.run, self.progress, self.trainer.tensors())
        self.last_saved = time.monotonic()

    def _finish(self) -> TrainResult:
        """Write the model from the best weights; the checkpoint is not needed any more."""
        trainer, progress = self.trainer, self.progress
        assert trainer.best is not None
        assert progress.best is not None
        trainer.model.load_state_dict(trainer.best)
        status: Status = "finished" if progress.epoch >= self.config.epochs else "no longer improving"
        facts = {
            "identity": progress.identity,
            "status": status,
            "dev_scores": progress.best["scores"],
            "best_epoch": progress.best_epoch,
            "epochs": progress.epoch,
            "seconds": progress.seconds,
            "epoch_seconds": [entry["seconds"] for entry in progress.history],
            "mixes": trainer.model.embedding.mix_weights(),
        }
        trained = dataclasses.replace(trainer.trained, facts=facts)
        trained.save(self.run / MODEL)
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
        metric = self.trainer.task.metric
        told = "" if best is None else f", best {metric} {best['scores'][metric]:.2f}"
        with tqdm(
            total=total,
            initial=self.progress.step_in_epoch,
            desc=f"epoch {self.progress.epoch + 1}/{self.config.epochs}{told}",
            unit="step",
            leave=False,
            disable=None if self.show is None else not self.show,
        ) as bar:
            yield bar


def _require_adam_state(state: Mapping[str, Tensor], parameter: Tensor, *, name: str) -> None:
    """Refuse half a state, or one of other sizes; none at all is right before the first step."""
    shapes = {kind: tensor.shape for kind, tensor in state.items()}
    whole = {"step": torch.Size(), "exp_avg": parameter.shape, "exp_avg_sq": parameter.shape}
    if shapes not in ({}, whole):
        raise KeyError(f"the state of Adam for {name}")


def _total(losses: list[Tensor]) -> float:
    return float(torch.stack(losses).double().sum()) if losses else 0.0


def _identity(
    recipe: Recipe,
    train: Sequence[Example],
    dev: Sequence[Example],
    vectors: WordVectors | None,
    bilm: BiLMReference | None,
) -> str:
    """A hash that is the same for the same run."""
    kept = {name: value for name, value in recipe.to_dict()["train"].items() if name != "checkpoint_minutes"}
    digest = hashlib.sha256(json.dumps({**recipe.to_dict(), "train": kept}, sort_keys=True).encode())
    for examples in (train, dev):
        for example in examples:
            digest.update(repr((example.texts, example.answer)).encode("utf-8", "backslashreplace"))
    digest.update((vectors.sha256() if vectors else "").encode() + (bilm.sha256 if bilm else "").encode())
    return digest.hexdigest()
