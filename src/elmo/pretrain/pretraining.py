"""`pretrain`: a whole training run, from a corpus store to a model directory. It can stop anywhere and go on."""

import os
from contextlib import nullcontext
from pathlib import Path

from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.disk.guarded.plainfiles import refusing
from elmo.errors import ConfigError, ResumeError
from elmo.lm.languagemodel import LanguageModel
from elmo.ops.cpu.allocator import keep_freed_memory
from elmo.pretrain.checkpoint import FOLDER, find_saved, require_same_corpus
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.loop import PretrainingLoop
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.progress import Progress, continued_config
from elmo.pretrain.reports import Reports
from elmo.pretrain.result import Result
from elmo.pretrain.start import Source, begin_with, find_origin, require_same_start
from elmo.pretrain.trainer import Trainer
from elmo.run.alone import alone_in
from elmo.run.distributed import join_world
from elmo.run.stopping import StopRequest


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
            loop = PretrainingLoop(run, trainer, progress, reports, stop, start=start, is_known=known)
            loop.begin(asked)
            return loop.go()
