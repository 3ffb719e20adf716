"""`tune_bilm`: a biLM fine-tuned on the sentences of a task's training examples, once for all runs that have them.

Labels are not used, and dev and test are not looked at. A tuned biLM is kept in a folder under the hash of all that it
comes from; other seeds and arms take it from there. Where held-out sentences do not gain, the biLM stays what it was.
"""

import dataclasses
import hashlib
import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore
from elmo.disk.guarded.plainfiles import read_json, refusing
from elmo.disk.locking import locked
from elmo.disk.writing import write_file
from elmo.errors import InputError, WeightsError
from elmo.model.fields import read_fields
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.finetuning import finetune
from elmo.pretrain.result import Status
from elmo.pretrain.stages import RunOptions
from elmo.tasks.examples import Example
from elmo.tasks.training.trained import BiLMReference, Tuning
from elmo.weights.formats import portable_name, read_model, write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.tensors import content_sha256

logger = logging.getLogger(__name__)

RECORD, MODEL, RUN, SENTENCES = "tuned.json", "model", "run", "sentences.txt"
HELDOUT = 0.05  # of the sentences; as `elmo finetune` has it
FEWEST_SENTENCES = 20


@dataclass(frozen=True, kw_only=True)
class TunedBiLM:
    """A biLM for a task, tuned or left as it was, and which it is."""

    model: LoadedModel
    reference: BiLMReference


def tune_bilm(
    model: LoadedModel,
    examples: Sequence[Example],
    folder: Path,
    *,
    config: TrainConfig | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    progress_bar: bool | None = None,
) -> TunedBiLM | Status:
    """Tune a biLM, or take the one that `folder` has; how the tuning was stopped, if it was: the next call goes on."""
    config = config or TrainConfig.recipe("finetune")
    sentences = list(dict.fromkeys(" ".join(s) for e in examples for text in e.texts for s in text.sentences))
    if len(sentences) < FEWEST_SENTENCES:
        raise InputError(
            f"the training examples have {len(sentences)} different sentences, but {FEWEST_SENTENCES} are the fewest "
            "that a biLM can be tuned on; leave --tune-bilm out"
        )
    place = folder / _key(model, sentences, config)
    place.mkdir(parents=True, exist_ok=True)
    waiting = lambda: logger.info("%s: another process tunes the biLM; waiting", place)  # noqa: E731
    with locked(place.with_suffix(".lock"), busy=waiting):
        if (place / RECORD).is_file():
            logger.info("%s: has the biLM as it was tuned on these sentences before", place)
        else:
            options: RunOptions = {
                "resume": True,
                "device": device,
                "time_limit": time_limit,
                "progress_bar": progress_bar,
                "tensorboard": False,
            }
            stopped = _tune(model, sentences, place, config, options)
            if stopped is not None:
                return stopped
        return _read(model, place)


def _tune(
    model: LoadedModel, sentences: list[str], place: Path, config: TrainConfig, options: RunOptions
) -> Status | None:
    """The record, and the biLM if it has gained; else the status of a training that was stopped."""
    run = place / RUN
    if (run / "corpus").is_dir():
        store = CorpusStore.open(run / "corpus")
    else:
        run.mkdir(exist_ok=True)
        write_file(run / SENTENCES, "".join(f"{sentence}\n" for sentence in sentences).encode("utf-8", "replace"))
        store = build_corpus(
            run / SENTENCES, run / "corpus", tokenized=True, documents="lines", heldout=HELDOUT, resume=True
        )
    logger.info("the biLM is tuned on %s sentences of the training examples", f"{len(sentences):,}")
    done = finetune(model, store, run, config=config, **options)
    if not done.done or done.model is None or done.before is None or done.after is None:
        return done.status
    tuned = model
    if done.gained:
        tuned = read_model(done.model).replace(softmax=None, tokenizer=model.tokenizer)
        write_model(tuned, place / MODEL, overwrite=True)
    tuning = Tuning(
        gained=done.gained,
        before=done.before.average,
        after=done.after.average,
        outside=done.before.unknown_rate,
        sentences=len(sentences),
        words=store.counts["train"].words,
        sha256_before=model.sha256,
    )
    record = BiLMReference(sha256=tuned.sha256, source=portable_name(model.source), tuning=tuning)
    write_file(place / RECORD, (json.dumps(record.to_dict(), indent=1) + "\n").encode("utf-8"))
    shutil.rmtree(run, ignore_errors=True)
    return None


def _read(model: LoadedModel, place: Path) -> TunedBiLM:
    path = place / RECORD
    with refusing(path, WeightsError):
        reference = read_fields(BiLMReference, read_json(path), where=str(path))
    gained = reference.tuning is not None and reference.tuning.gained
    found = read_model(place / MODEL) if gained else model
    if found.sha256 != reference.sha256:
        raise WeightsError(f"{place}: the tuned biLM is not the one of {RECORD}; remove the folder to tune it again")
    return TunedBiLM(model=found, reference=dataclasses.replace(reference, source=portable_name(model.source)))


def _key(model: LoadedModel, sentences: Sequence[str], config: TrainConfig) -> str:
    softmax = model.softmax
    values = {
        "biLM": model.sha256,
        "softmax": None if softmax is None else content_sha256({"weight": softmax.weight, "bias": softmax.bias}),
        "configuration": config.to_dict(),
    }
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode("utf-8"))
    for sentence in sentences:
        digest.update(sentence.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:24]
