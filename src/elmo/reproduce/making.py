"""One run made: trained, or gone on with, and scored. What comes of it is a line of the raw runs."""

import dataclasses
import platform
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

import elmo
from elmo.disk.guarded.plainfiles import read_json
from elmo.embed.module import Elmo
from elmo.errors import ResumeError
from elmo.ops.device import choose_device
from elmo.reproduce.arms import ARMS, BASELINE
from elmo.reproduce.jobs import AnyJob, Hashes, ProbeJob, SenseJob, Sources, TaskJob, job_key, recipe_of
from elmo.reproduce.loading import load_examples, load_model, load_senses, load_tags, load_vectors
from elmo.run.metrics import read_metrics
from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.probe.linear import ProbeConfig, probe_layers
from elmo.tasks.training.checkpoint import FOLDER, MOST_PROGRESS_BYTES, PROGRESS
from elmo.tasks.training.trainer import train_task
from elmo.tasks.wsd.evaluate import evaluate_senses

Made = dict[str, Any]


class Headway(NamedTuple):
    """What an unfinished run has behind it."""

    share: float = 0.0  # of its epochs
    seconds: float = 0.0


def make_run(job: AnyJob, hashes: Hashes, sources: Sources, *, time_limit: float | None) -> Made | None:
    """The result of a run; None if its time was over. The next call goes on where it was."""
    began, before = time.perf_counter(), headway(job, hashes, sources).seconds
    if isinstance(job, TaskJob):
        made = _train(job, run_folder(job, hashes, sources), sources, time_limit)
    elif isinstance(job, SenseJob):
        made = _tell_senses(job, sources)
    else:
        made = _probe(job, sources)
    if made is None:
        return None
    first = {"key": job_key(job, hashes), "kind": _kind(job), "set": job.data.name, "task": job.data.task}
    return {
        **first,
        **made,
        # Over all calls; one that only finds a trained model takes what the training took.
        "seconds": round(max(before + time.perf_counter() - began, made.get("training_seconds", 0.0)), 1),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "files": {name: hashes.files[path][:16] for name, path in job.files.items()},
        "model": hashes.model,
        "vectors": hashes.vectors,
        "device": _device_name(sources.device),
        "versions": {"elmo": elmo.__version__, "torch": torch.__version__, "python": platform.python_version()},
    }


def run_folder(job: AnyJob, hashes: Hashes, sources: Sources) -> Path:
    """Where a run keeps its checkpoint and its model until it is told."""
    return sources.cache / "runs" / job_key(job, hashes)


def headway(job: AnyJob, hashes: Hashes, sources: Sources) -> Headway:
    """How far a run came that was stopped, by its checkpoint; one that cannot be read will be told when it goes on."""
    path = run_folder(job, hashes, sources) / FOLDER / PROGRESS
    if not isinstance(job, TaskJob) or not path.is_file():
        return Headway()
    try:
        saved = read_json(path, most_bytes=MOST_PROGRESS_BYTES, refusal=ResumeError)
        return Headway(min(1.0, saved["epoch"] / recipe_of(job).train.epochs), float(saved["seconds"]))
    except (ResumeError, KeyError, TypeError):
        return Headway()


def forget(job: AnyJob, hashes: Hashes, sources: Sources) -> None:
    """Remove what a run that is told has left."""
    shutil.rmtree(run_folder(job, hashes, sources), ignore_errors=True)


def _kind(job: AnyJob) -> str:
    if isinstance(job, TaskJob):
        return "search" if job.searches else "task"
    return str(job.data.task)


def _train(job: TaskJob, folder: Path, sources: Sources, time_limit: float | None) -> Made | None:
    recipe = recipe_of(job)
    store = LayerStore(CacheConfig(folder=sources.cache / "layers"))
    result = train_task(
        job.data.task,
        recipe,
        load_examples(job, "train", sources),
        load_examples(job, "dev", sources),
        folder,
        model=None if job.arm == BASELINE else load_model(sources.model),
        vectors=load_vectors(sources.vectors),
        resume=True,
        device=sources.device,
        store=store,
        time_limit=time_limit,
        progress_bar=False,
        tuned=sources.cache / "tuned" if ARMS[job.arm].tunes else None,
    )
    trained = result.trained
    if trained is None:
        return None
    test = None if job.searches else trained.evaluate(load_examples(job, "test", sources), store=store)
    history = dev_history(folder, trained.task.metric)
    times, reference = sorted(result.epoch_seconds), trained.bilm_reference
    added = recipe.embedding.elmo
    return {
        "arm": job.arm,
        "seed": job.seed,
        "fraction": recipe.train.fraction,
        "point": list(job.point),
        "options": list(job.options),
        **({"quick": True} if job.quick else {}),
        "elmo": None if job.arm == BASELINE else {"where": added.where, "layers": added.layers, "mix_l2": added.mix_l2},
        "metric": trained.task.metric,
        "dev": _rounded(result.scores),
        "test": None if test is None else _rounded(test),
        "history": history,
        "updates": history[-1][0] if history else 0,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "epoch_seconds": round(times[len(times) // 2], 3),
        "training_seconds": round(result.seconds, 1),
        "mixes": _rounded(trained.embedding.mix_weights()),
        "bilm": None if reference is None else reference.sha256,
        "tuning": None if reference is None or reference.tuning is None else dataclasses.asdict(reference.tuning),
    }


def dev_history(run: Path, metric: str) -> list[tuple[int, float]]:
    """The updates made and the score on dev at the end of each epoch."""
    return [(line["step"], round(line[metric], 3)) for line in read_metrics(run) if line["kind"] == "dev"]


def _tell_senses(job: SenseJob, sources: Sources) -> Made:
    scores = evaluate_senses(_elmo(sources), **load_senses(job, sources))
    return {"scores": [_rounded(dataclasses.asdict(score)) for score in scores]}


def _probe(job: ProbeJob, sources: Sources) -> Made:
    found = probe_layers(
        _elmo(sources),
        *(load_tags(sources.data / job.files[part]) for part in ("train", "dev", "test")),
        config=ProbeConfig(seed=job.seed, epochs=job.data.epochs),
        store=LayerStore(CacheConfig(folder=sources.cache / "layers")),
    )
    return {"seed": job.seed, "dev": _rounded(found.dev), "test": _rounded(found.test)}


def _elmo(sources: Sources) -> Elmo:
    return Elmo(load_model(sources.model)).to(choose_device(sources.device)).eval()


def _device_name(device: str | None) -> str:
    chosen = choose_device(device)
    return torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else "cpu"


def _rounded(value: Any) -> Any:
    """The same with four digits behind the point, in lists and tables too."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: _rounded(found) for name, found in value.items()}
    return [_rounded(found) for found in value] if isinstance(value, list | tuple) else value


def line_of(run: Made) -> str:
    """A run in one line, for the terminal."""
    if run["kind"] == "senses":
        told = ", ".join(f"{value:.1f}" for value in run["scores"][-1]["layers"])
        return f"{run['set']}: F1 by layer {told}, {run['seconds']:.0f} s"
    if run["kind"] == "probe":
        told = ", ".join(f"{value:.2f}" for value in run["test"])
        return f"{run['set']}: seed {run['seed']}, accuracy by layer {told}, {run['seconds']:.0f} s"
    metric, test, point = run["metric"], run["test"], " ".join(run["point"])
    return (
        f"{run['set']}: {run['arm']} seed {run['seed']} fraction {run['fraction']:g}"
        f"{f' ({point})' if test is None and point else ''}: dev {run['dev'][metric]:.2f}"
        f"{'' if test is None else f' test {test[metric]:.2f}'}, best epoch {run['best_epoch']} of {run['epochs']}, "
        f"{run['epoch_seconds']:.2f} s an epoch, {run['seconds']:.0f} s in all"
    )
