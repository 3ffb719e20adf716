"""Starting a run from a trained model: which it was, and whether it fits the corpus and the configuration.

Its weights and its softmax are taken over with its architecture, vocabulary and tokenizer; optimizer, schedule and
counters are new. A softmax must be there: a random one would pull the trained biLM along.
"""

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, ResumeError
from elmo.lm.adaptive import AdaptiveConfig, AdaptiveHead
from elmo.lm.head import Head
from elmo.lm.languagemodel import LanguageModel, output_layer
from elmo.pretrain.config import TrainConfig
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import portable_name, read_model
from elmo.weights.loaded import LoadedModel, Training
from elmo.weights.native import VOCABULARY
from elmo.weights.softmaxfile import add_softmax
from elmo.weights.tensors import content_sha256

Source = str | os.PathLike[str] | LoadedModel  # a name, a path, or a model in memory


@dataclass(frozen=True, kw_only=True)
class Start:
    """What a run began with, as its checkpoints record it."""

    model: str
    sha256: str  # of the biLM's numbers
    softmax_sha256: str  # of the softmax's
    tokens: int | None  # read before, in each direction; None where nobody has recorded it
    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        if self.tokens is not None and self.tokens < 0:
            raise ResumeError("start.tokens is below 0; the checkpoint is damaged")

    def __str__(self) -> str:
        before = "" if self.tokens is None else f", which has read {self.tokens:,} tokens"
        return f"{self.model} (sha256 {self.sha256}){before}"


def read_start(source: Source, softmax: str | os.PathLike[str] | None) -> LoadedModel:
    """The model to start from, with the softmax of a file where one is given."""
    if isinstance(source, LoadedModel):
        model = source
    else:
        model = read_model(source if isinstance(source, str) else Path(source))
    return model if softmax is None else add_softmax(model, Path(softmax))


def find_origin(
    config: TrainConfig,
    saved: TrainConfig | None,
    start_from: Source | None,
    softmax: str | os.PathLike[str] | None,
) -> LoadedModel | None:
    """The model to start from. A run that goes on needs it no more, but one that is named must be the same."""
    if start_from is not None:
        return read_start(start_from, softmax)
    if softmax is not None and config.start_from is None:
        raise ConfigError(f"softmax is {os.fspath(softmax)!r}, but there is no model to start from; give --start-from")
    if config.start_from is None:
        return None
    named = (config.start_from, None if softmax is None else str(softmax))
    if saved is not None and named == (saved.start_from, saved.softmax):
        return None
    return read_start(config.start_from, softmax)


def begin_with(
    loaded: LoadedModel, config: TrainConfig, store: CorpusStore, *, softmax: str | os.PathLike[str] | None = None
) -> tuple[Start, LanguageModel, TrainConfig]:
    """What to record, a copy of the model to train, and the configuration with its architecture; or why not."""
    head = _require_head(loaded, store)
    _require_same_words(loaded, store)
    loss = _fitting_loss(loaded, head, config)
    if config.size is None and config.model is None:
        config = config.replace(model=loaded.config)
    elif config.architecture.to_dict() != loaded.config.to_dict():
        key = "size" if config.size is not None else "model"
        value = f" is {config.size!r}" if config.size is not None else ""
        raise ConfigError(
            f"{key}{value}, but {loaded.source or 'the model to start from'} has another architecture "
            f"({_sizes(loaded)}), which is taken over; leave {'--size' if key == 'size' else key} out"
        )
    start = start_of(loaded, head)
    config = config.replace(start_from=start.model, softmax=None if softmax is None else str(softmax), loss=loss)
    # A copy: the caller's model may be used again.
    return start, copy.deepcopy(LanguageModel(loaded.bilm, head)).requires_grad_(True).train(), config


def start_of(loaded: LoadedModel, head: Head | None = None) -> Start:
    """What a run that begins with this model records of it."""
    head = head or output_layer(loaded)
    return Start(
        model=portable_name(loaded.source),
        sha256=loaded.sha256,
        softmax_sha256="" if head is None else content_sha256(head.state_dict()),
        tokens=None if loaded.training is None else loaded.training.tokens,
        tokenizer=loaded.tokenizer,
    )


def require_same_start(run: Path, saved: Start | None, loaded: LoadedModel) -> None:
    """Refuse to go on with a run that was started from something else."""
    if saved is None:
        raise ResumeError(f"{run}: was not started from a model; leave --start-from out, or choose another directory")
    now = start_of(loaded)
    for what, before, found in (
        ("model", saved.sha256, now.sha256),
        ("softmax", saved.softmax_sha256, now.softmax_sha256),
    ):
        if before != found:
            raise ResumeError(
                f"{run}: was started from another {what} ({saved.model}, sha256 {before[:12]}) than {now.model} "
                f"(sha256 {found[:12] or 'none'}); leave --start-from and --softmax out to go on, or choose another "
                "directory"
            )


def training_record(start: Start | None, symbols: int) -> Training:
    """What the model of a run has read in all, and what it was begun with."""
    if start is None:
        return Training(tokens=symbols)
    return Training(tokens=None if start.tokens is None else start.tokens + symbols, started_from=start.sha256)


def to_dict(start: Start) -> Mapping[str, Any]:
    """As a checkpoint's training.json holds it."""
    return {**vars(start), "tokenizer": start.tokenizer.to_dict()}


def _require_head(loaded: LoadedModel, store: CorpusStore) -> Head:
    name = portable_name(loaded.source)
    head = output_layer(loaded)
    if head is None or loaded.vocabulary is None:
        raise ConfigError(
            f"{name}: has no softmax, and a new one would pull the trained biLM along; make one first with `elmo "
            f"finetune {store.folder} -o SOFTMAX_RUN --softmax-only --steps 5000 --model {name}`, then add --softmax "
            "SOFTMAX_RUN/softmax.safetensors"
        )
    return head


def _require_same_words(loaded: LoadedModel, store: CorpusStore) -> None:
    """Tokens and targets of the corpus must be what the model knows; text that came as tokens has no rule."""
    name, own, theirs = portable_name(loaded.source), loaded.tokenizer, store.tokenizer
    rule = f"--rule {own.rule}" if own.rule != "whitespace" else "--tokenized"
    rule += "" if own.language is None else f" --language {own.language}"
    words = Path(loaded.source or name) / VOCABULARY
    words_of = f"{words}" if words.is_file() else "a file with the model's words"
    cure = f"build it again: `elmo corpus build TEXT -o CORPUS {rule} --vocabulary {words_of}`"
    if theirs != own and theirs.rule != "whitespace":
        raise ConfigError(
            f"{store.folder}: was built with the tokenizer {_rule(theirs)}, but {name} has {_rule(own)}; {cure}"
        )
    assert loaded.vocabulary is not None
    if store.vocabulary.words != loaded.vocabulary.words:
        raise ConfigError(
            f"{store.folder}: was built with another vocabulary ({len(store.vocabulary):,} words) than that of {name} "
            f"({len(loaded.vocabulary):,}); {cure}"
        )


def _fitting_loss(loaded: LoadedModel, head: Head, config: TrainConfig) -> Any:
    """The configured loss, with the clusters of an adaptive softmax that the model has."""
    loss, name = config.loss, portable_name(loaded.source)
    if not isinstance(head, AdaptiveHead):
        if isinstance(loss, AdaptiveConfig):
            raise ConfigError(f"loss.kind is 'adaptive', but {name} has a plain softmax; use 'sampled' or 'full'")
        return loss
    own = AdaptiveConfig(cutoffs=tuple(head.cutoffs), ratio=head.ratio)
    if not isinstance(loss, AdaptiveConfig):
        raise ConfigError(f"loss.kind is {loss.kind!r}, but {name} has an adaptive softmax; use 'adaptive'")
    if loss.ratio != own.ratio or loss.cutoffs not in (None, own.cutoffs):
        raise ConfigError(f"loss is {loss}, but the adaptive softmax of {name} is {own}; leave cutoffs and ratio out")
    return own


def _rule(tokenizer: Tokenizer) -> str:
    return f"{tokenizer.rule!r} of language {tokenizer.language or 'none'}"


def _sizes(loaded: LoadedModel) -> str:
    lstm = loaded.config.lstm
    return f"{lstm.layers} layers of {lstm.cell_dim:,} cells and {lstm.output_dim} outputs"
