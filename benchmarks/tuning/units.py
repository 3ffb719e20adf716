"""The parts of the search, each made by a process of its own: a recipe on a text, a task model with what came of it."""

import json
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.tasks import jobs
from benchmarks.tasks.jobs import Job
from benchmarks.tuning.recipes import RECIPES
from benchmarks.tuning.texts import TEXTS

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the tuned weights, in an average with the start
PROBED = (0.5, 1.0)
PERPLEXITY_SYMBOLS = 40_000
UNTUNED = "untuned"


class Part(NamedTuple):
    """A text and a recipe; strings and numbers only, so that a process of its own can make it."""

    text: str
    recipe: str
    data: str
    model: str
    out: str
    device: str | None
    tiny: bool
    keep: tuple[float, ...] = ()  # averages of which the model is wanted

    @property
    def key(self) -> str:
        return json.dumps([self.text, self.recipe, self.model])


class Run(NamedTuple):
    """A task model with an average of a recipe's start and end, or untuned."""

    text: str
    recipe: str
    share: float
    part: Part
    job: Job

    @property
    def key(self) -> str:
        return json.dumps([self.text, self.recipe, self.share, self.job.seed, self.job.given[-2:], *self.job.changes])


def model_place(part: Part, share: float) -> Path:
    """Where an average is written for the task models."""
    name = f"{part.text}-{part.recipe}-{share:g}".replace(" ", "_").replace("/", "-").replace(",", "")
    return Path(part.out) / "models" / name


def try_recipe(part: Part) -> dict[str, Any]:
    """Tune, measure, and write the averages that are wanted."""
    from benchmarks.tuning.probe import probe_score
    from benchmarks.tuning.texts import build_store
    from benchmarks.tuning.tune import Tuned
    from elmo.ops.device import choose_device
    from elmo.run.distributed import World
    from elmo.weights.formats import write_model

    began = time.perf_counter()
    device = str(choose_device(part.device))
    name, colon, words = part.text.partition(":")
    store = build_store(
        name,
        Path(part.data),
        Path(part.out) / "corpora",
        words=int(words) if colon else None,
        most=400 if part.tiny else None,
    )
    recipe = None if part.recipe == UNTUNED else RECIPES[part.recipe]
    tuned = Tuned(_model(part.model), store, recipe, world=World(), device=device)
    tuning_seconds = time.perf_counter() - began
    symbols = 300 if part.tiny else PERPLEXITY_SYMBOLS
    result: dict[str, Any] = {
        "key": part.key,
        "text": part.text,
        "recipe": part.recipe,
        "model": part.model,
        "words": store.counts["train"].words,
        "vocabulary": len(tuned.store.vocabulary),
        "steps": tuned.steps,
        "shares": {},
    }
    for share in (1.0,) if recipe is None else SHARES:
        tuned.take(share)
        found: dict[str, Any] = tuned.perplexities(symbols)
        if part.text in TEXTS and TEXTS[part.text].probed and share in PROBED:
            train, dev = _examples(part.text, part.data, part.tiny)
            task = TEXTS[part.text].recipe().make_task()
            found |= probe_score(tuned.loaded(), task, train, dev, device=device, seeds=1 if part.tiny else 2)
        if share in part.keep:
            place = model_place(part, share)
            place.parent.mkdir(exist_ok=True)
            write_model(tuned.loaded(), place, overwrite=True)
        result["shares"][f"{share:g}"] = found
    result |= {"tuning_seconds": round(tuning_seconds, 1), "seconds": round(time.perf_counter() - began, 1)}
    return result


def train_with(run: Run) -> dict[str, Any]:
    """A task model; its biLM is tuned by the first that needs it."""
    from elmo.disk.locking import locked

    place = Path(run.job.model)
    if run.recipe != UNTUNED:
        place.parent.mkdir(exist_ok=True)
        with locked(place.with_name(f"{place.name}.lock"), busy=lambda: None):
            if not place.is_dir():
                try_recipe(run.part)
    result = jobs.train(run.job)
    kept = ("metric", "dev", "seed", "best_epoch", "epoch_seconds", "seconds", "mixes")
    return {
        "key": run.key,
        "text": run.text,
        "recipe": run.recipe,
        "share": run.share,
        **{name: result[name] for name in kept},
    }


@cache
def _model(name: str) -> Any:
    from elmo.weights.formats import read_model

    return read_model(name)


@cache
def _examples(text: str, data: str, tiny: bool) -> Any:
    most = 150 if tiny else None
    return tuple(TEXTS[text].examples(Path(data), part, most) for part in ("train", "dev"))
