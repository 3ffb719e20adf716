"""`train_task`: one trainer for all tasks. It stops early on dev, can be interrupted anywhere, and goes on exactly."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from elmo.disk.directories import clean_up
from elmo.disk.guarded.plainfiles import refusing
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.ops.device import choose_device
from elmo.run.alone import alone_in
from elmo.run.metrics import Metrics
from elmo.run.stopping import StopRequest
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe
from elmo.tasks.training.batching import choose_fraction
from elmo.tasks.training.checkpoint import FOLDER, TaskProgress, read_checkpoint_tensors, read_progress
from elmo.tasks.training.directory import MODEL, load_trained_task, read_task
from elmo.tasks.training.identity import RunIdentity
from elmo.tasks.training.learner import Learner
from elmo.tasks.training.loop import Status, TrainingLoop, TrainResult
from elmo.tasks.training.trained import BiLMReference
from elmo.tasks.training.tuning import TunedBiLM, tune_bilm
from elmo.weights.formats import portable_name
from elmo.weights.loaded import LoadedModel


def train_task(
    name: str,
    recipe: Recipe,
    train: Sequence[Example],
    dev: Sequence[Example],
    out_dir: str | os.PathLike[str],
    *,
    model: LoadedModel | None = None,
    vectors: WordVectors | None = None,
    resume: bool = False,
    device: str | torch.device | None = None,
    store: LayerStore | None = None,
    time_limit: float | None = None,
    progress_bar: bool | None = None,
    tuned: str | os.PathLike[str] | None = None,
) -> TrainResult:
    """Train until the configured end, no gain on dev, Ctrl-C, SIGTERM or `time_limit` seconds of training.

    The task model with the best score on dev comes in the folder `model` of `out_dir`. `model` has the biLM. `vectors`
    are static word vectors (learned ones if None), `store` keeps the layers of a frozen biLM for other runs. `resume`
    goes on where the run in `out_dir` was, or begins. `tuned` is a folder that keeps biLMs tuned on the sentences of
    the training examples: with it, the biLM is tuned first, or taken from there.
    """
    began = time.monotonic()
    run = Path(out_dir)
    if not dev:
        raise InputError("there are no dev examples; early stopping needs some")
    if model is None and recipe.embedding.elmo.where != "none":
        raise ConfigError(
            f"elmo.where is {recipe.embedding.elmo.where!r}, but no biLM is given; name one, or set it to 'none'"
        )
    chosen = choose_device(device)
    used = model if recipe.embedding.elmo.where != "none" else None
    reference = None if used is None else BiLMReference(sha256=used.sha256, source=portable_name(used.source))
    part = [train[n] for n in choose_fraction(len(train), recipe.train.fraction, seed=recipe.train.seed)]
    task = recipe.make_task()
    examples = task.training_examples(part)
    with alone_in(run):
        if tuned is not None:
            if used is None:
                raise ConfigError("elmo.where is 'none': there is no biLM to tune")
            _find_saved(run, resume=resume)  # refused now, not after the tuning
            found = tune_bilm(
                used, part, Path(tuned), device=str(chosen), time_limit=time_limit, progress_bar=progress_bar
            )
            if not isinstance(found, TunedBiLM):
                return _stopped(run, found)
            used, reference = found.model, found.reference
            if time_limit is not None:
                time_limit = max(0.0, time_limit - (time.monotonic() - began))
        identity = RunIdentity(
            recipe=recipe,
            train=examples,
            dev=dev,
            vectors_sha256=None if vectors is None else vectors.sha256(),
            bilm_sha256=None if used is None else used.sha256,
        )
        if resume and (run / MODEL).exists():  # written last, and whole: what is missing is the cleaning-up
            finished = _finished(run, identity, model=used, device=chosen)
            clean_up(run)  # first: it brings a checkpoint back that was set aside
            shutil.rmtree(run / FOLDER, ignore_errors=True)
            return finished
        saved = _find_saved(run, resume=resume)
        if saved is not None:
            identity.refuse_other(saved.identity, where=run)
            saved.identity = identity.value
        clean_up(run)
        cuda = [chosen] if chosen.type == "cuda" else []
        with torch.random.fork_rng(devices=cuda):
            # Not yet inside of StopRequest: while layers are computed there is nothing to save; Ctrl-C ends it at once.
            learner = Learner(
                name,
                recipe,
                task,
                examples,
                dev,
                model=used,
                reference=reference,
                vectors=vectors,
                device=chosen,
                store=store,
            )
            progress = saved or TaskProgress(identity=identity.value)
            if saved is not None:
                with refusing(run / FOLDER, ResumeError):
                    learner.load(read_checkpoint_tensors(run), saved)
            with (
                StopRequest(time_limit=time_limit) as stop,
                Metrics(run, after_step=learner.global_step(progress), tensorboard=False) as metrics,
            ):
                return TrainingLoop(run, learner, progress, metrics, stop, bar=progress_bar).go()


def _find_saved(run: Path, *, resume: bool) -> TaskProgress | None:
    saved = read_progress(run)
    if not resume and (saved is not None or (run / MODEL).exists()):
        raise ResumeError(f"{run}: holds a run already; resume it, or choose another directory")
    return saved


def _stopped(run: Path, status: Status) -> TrainResult:
    """The result of a run that was stopped before its first step."""
    return TrainResult(
        status=status, run=run, epochs=0, best_epoch=None, scores={}, seconds=0.0, epoch_seconds=[], trained=None
    )


def _finished(run: Path, identity: RunIdentity, *, model: LoadedModel | None, device: torch.device) -> TrainResult:
    """The result of a run that has its model."""
    facts = read_task(run / MODEL)
    try:
        identity.refuse_other(facts["identity"], where=run)
        return TrainResult(
            status=facts["status"],
            run=run,
            epochs=int(facts["epochs"]),
            best_epoch=int(facts["best_epoch"]),
            scores=facts["dev_scores"],
            seconds=float(facts["seconds"]),
            epoch_seconds=facts["epoch_seconds"],
            trained=load_trained_task(run / MODEL, model=model, device=device),
        )
    except (KeyError, TypeError, ValueError):
        raise ResumeError(f"{run}: is finished; its model is {run / MODEL}") from None
