"""`finetune`: go on training a model on text of a domain, and know what that brought.

A model that has a softmax keeps it, with the domain's new words added (`extension`). One without (any from HDF5) first
gets one over the domain's vocabulary, while its biLM stays as it is. Then all of it is trained, until held-out text no
longer gains. Both stages are runs as `pretrain` makes them. Before and after are measured over one vocabulary, and a
training that gained nothing leaves the model as it was.
"""

import copy
import logging
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.errors import ConfigError, ResumeError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import SoftmaxHead
from elmo.lm.languagemodel import LanguageModel, softmax_head
from elmo.lm.perplexity import Perplexity, store_perplexity
from elmo.model.frozen import frozen_copy
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.extension import extend_softmax, extended_vocabulary
from elmo.pretrain.loop import Result, Status, find_saved, pretrain
from elmo.run.distributed import is_first_process
from elmo.run.randomness import generator_for
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel, Softmax
from elmo.weights.native import is_native
from elmo.weights.softmaxfile import write_softmax

logger = logging.getLogger(__name__)

SOFTMAX_RUN, TRAINING_RUN, MODEL, HDF5 = "softmax", "training", "model", "hdf5"
SOFTMAX_FILE = "softmax.safetensors"
FEW_TOKENS = 10_000_000
_OTHER = "go on with what the run was begun with, or choose another directory"
MANY_OUTSIDE = 0.1  # of the held-out words; a perplexity that counts so many as one class says little


@dataclass(frozen=True, kw_only=True)
class FinetuneResult:
    """How it ended. Unless it is `done`, the same call with `resume=True` goes on."""

    status: Status
    run: Path
    before: Perplexity | None = None  # held-out, of the given biLM with a softmax over the same vocabulary
    after: Perplexity | None = None
    model: Path | None = None  # native
    hdf5: Path | None = None  # bilm-tf's format
    vocabulary: int | None = None  # entries over which both were measured
    new_words: int = 0  # of these, added to the model's own

    @property
    def gained(self) -> bool:
        """Whether held-out text is predicted better than before; if not, the model is the one that was given."""
        return self.before is not None and self.after is not None and self.after.average < self.before.average

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.model is not None


@dataclass(frozen=True, kw_only=True)
class SoftmaxResult:
    """How it ended. Unless there is a file, the same call with `resume=True` goes on."""

    status: Status
    run: Path
    perplexity: Perplexity | None = None  # held-out
    file: Path | None = None


def train_softmax(
    model: LoadedModel,
    store: CorpusStore | str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    config: TrainConfig | None = None,
    resume: bool = False,
    device: str | None = None,
    time_limit: float | None = None,
    progress_bar: bool | None = None,
    tensorboard: bool | None = None,
) -> SoftmaxResult:
    """Build a softmax over a corpus store's vocabulary for a biLM, which stays as it is: `out_dir/softmax.safetensors`.

    `config` is by default the recipe `softmax`.
    """
    out = Path(out_dir)
    opened = store if isinstance(store, CorpusStore) else CorpusStore.open(Path(store))
    config = (config or TrainConfig.recipe("softmax")).replace(model=model.config)
    if isinstance(config.loss, AdaptiveConfig):
        raise ConfigError("loss.kind is 'adaptive', but a softmax file holds a plain one: 'sampled' or 'full'")
    if is_first_process():
        clean_up(out)
    stages = _Stages(
        model=model,
        store=opened,
        out=out,
        resume=resume,
        device=device,
        time_limit=time_limit,
        progress_bar=progress_bar,
        tensorboard=tensorboard,
    )
    prepared = stages.prepare_softmax(config)
    if isinstance(prepared, Result):
        return SoftmaxResult(status=prepared.status, run=out)
    made, perplexity = prepared
    if perplexity is None and len(opened.heldout_tokens):
        perplexity = store_perplexity(made, opened, state="carry", device=device)
    if is_first_process():
        write_softmax(made, out / SOFTMAX_FILE, bilms=[model.sha256])
    return SoftmaxResult(status="finished", run=out, perplexity=perplexity, file=out / SOFTMAX_FILE)


def finetune(
    model: LoadedModel,
    store: CorpusStore | str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    config: TrainConfig | None = None,
    softmax_config: TrainConfig | None = None,
    resume: bool = False,
    device: str | None = None,
    time_limit: float | None = None,
    progress_bar: bool | None = None,
    tensorboard: bool | None = None,
) -> FinetuneResult:
    """Fine-tune on a corpus store and write `out_dir/model` and `out_dir/hdf5`.

    `config` and `softmax_config` are for the two stages; their defaults are the recipes `finetune` and `softmax`. The
    architecture is the model's, whatever they say.
    """
    out = Path(out_dir)
    opened = store if isinstance(store, CorpusStore) else CorpusStore.open(Path(store))
    if not len(opened.heldout_tokens):
        raise ConfigError(f"{opened.folder}: has no held-out text, without which overfitting would go unnoticed")
    if opened.counts["train"].tokens < FEW_TOKENS:
        logger.info("%s: fewer than ten million words; watch the held-out perplexity", opened.folder)
    config = (config or TrainConfig.recipe("finetune")).replace(model=model.config)
    softmax_config = (softmax_config or TrainConfig.recipe("softmax")).replace(model=model.config)
    if isinstance(config.loss, AdaptiveConfig) or isinstance(softmax_config.loss, AdaptiveConfig):
        raise ConfigError("loss.kind is 'adaptive', but fine-tuning wants a softmax that stays: 'sampled' or 'full'")
    if not resume:
        for name in (SOFTMAX_RUN, TRAINING_RUN):
            find_saved(out / name, resume=False)  # refused now, not after the first perplexity
    has_softmax = model.softmax is not None and model.vocabulary is not None
    if has_softmax:
        opened = opened.with_vocabulary(extended_vocabulary(model, opened))
    if is_first_process():
        clean_up(out)
    stages = _Stages(
        model=model,
        store=opened,
        out=out,
        resume=resume,
        device=device,
        time_limit=time_limit,
        progress_bar=progress_bar,
        tensorboard=tensorboard,
    )
    prepared = (extend_softmax(model, opened), None) if has_softmax else stages.prepare_softmax(softmax_config)
    if isinstance(prepared, Result):
        return FinetuneResult(status=prepared.status, run=out)
    started, measured = prepared
    before = measured or store_perplexity(started, opened, state="carry", device=device)
    if is_first_process():
        _tell_start(before, vocabulary=len(opened.vocabulary), out=out, has_softmax=has_softmax)
        logger.info("fine-tuning: all of the model is trained, until held-out text no longer gains")
    result = stages.train(started, config)
    made = FinetuneResult(
        status=result.status,
        run=out,
        before=before,
        vocabulary=len(opened.vocabulary),
        new_words=len(opened.vocabulary) - len(model.vocabulary) if has_softmax and model.vocabulary else 0,
    )
    if result.model is None or result.perplexity is None:
        return made
    after = result.perplexity
    made = replace(made, after=after, model=out / MODEL, hdf5=out / HDF5)
    if is_first_process():
        logger.info("held-out perplexity after: %.2f", after.average)
        delivered = read_model(result.model)
        if not made.gained:
            logger.warning(
                "held-out text is not predicted better than before (%.2f, before %.2f): the model is left as it was",
                after.average,
                before.average,
            )
            delivered = replace(started, card=delivered.card)
        if opened.tokenizer.rule == "whitespace":
            delivered = replace(delivered, tokenizer=model.tokenizer)  # text that came as tokens has no rule of its own
        write_model(delivered, out / MODEL, card=finetuning_card(delivered, made), overwrite=True)
        write_model(delivered, out / HDF5, format="bilm-tf", overwrite=True)
    return made


def _tell_start(before: Perplexity, *, vocabulary: int, out: Path, has_softmax: bool) -> None:
    logger.info("held-out perplexity before: %.2f", before.average)
    if before.unknown_rate > MANY_OUTSIDE:
        logger.warning(
            "%s: %.1f %% of the held-out words are outside the vocabulary of %s and count as one class, which makes "
            "perplexities small; compare them with each other alone, and use %s",
            out,
            100 * before.unknown_rate,
            f"{vocabulary:,}",
            "more text" if has_softmax else "more text or a model with a softmax",
        )


@dataclass(frozen=True, kw_only=True)
class _Stages:
    model: LoadedModel
    store: CorpusStore
    out: Path
    resume: bool
    device: str | None
    time_limit: float | None  # for all stages together
    progress_bar: bool | None
    tensorboard: bool | None
    began: float = field(default_factory=time.monotonic)

    def prepare_softmax(self, config: TrainConfig) -> tuple[LoadedModel, Perplexity | None] | Result:
        """The model with a softmax over the store's vocabulary, or the result of a stage that was stopped.

        With the model comes its held-out perplexity (state carried) where this call has measured it: over a large
        vocabulary that takes minutes on a CPU.
        """
        given, vocabulary = self.model, self.store.vocabulary
        if given.softmax is not None and given.vocabulary is not None and given.vocabulary.words == vocabulary.words:
            return given, None
        if given.config.tokens.reads_words:
            raise ConfigError(
                f"{given.source or 'model'}: reads words of its own vocabulary, so the corpus must be built with it; "
                "`elmo corpus build --vocabulary` takes a vocabulary"
            )
        finished, perplexity = self.out / SOFTMAX_RUN / "model", None
        if is_first_process():
            clean_up(finished.parent)  # if it was killed when its model was written
        if not (self.resume and is_native(finished)):
            head = new_softmax(given, vocabulary, seed=config.seed)
            if is_first_process():
                logger.info("softmax: over the %s words of the text; the biLM stays as it is", f"{len(vocabulary):,}")
            result = self._pretrain(LanguageModel(frozen_copy(given.bilm), head), config, SOFTMAX_RUN)
            if not result.done:
                return result
            perplexity = result.perplexity
        made = read_model(finished)
        if made.sha256 != given.sha256:
            raise ResumeError(f"{finished}: was made for another model than {given.source}; {_OTHER}")
        if made.softmax is None or made.vocabulary is None or made.vocabulary.words != vocabulary.words:
            raise ResumeError(f"{finished}: has no softmax over the words of {self.store.folder}; {_OTHER}")
        return made, perplexity

    def train(self, started: LoadedModel, config: TrainConfig) -> Result:
        """The second stage: everything is trained, in a copy: the caller's model may be used again."""
        assert started.softmax is not None
        made = copy.deepcopy(LanguageModel(started.bilm, softmax_head(started.softmax)))
        return self._pretrain(made.requires_grad_(True).train(), config, TRAINING_RUN)

    def _pretrain(self, made: LanguageModel, config: TrainConfig, name: str) -> Result:
        return pretrain(
            self.store,
            config,
            self.out / name,
            resume=self.resume,
            device=self.device,
            time_limit=None if self.time_limit is None else max(0.0, self.began + self.time_limit - time.monotonic()),
            model=made,
            progress_bar=self.progress_bar,
            tensorboard=self.tensorboard,
        )


@torch.no_grad()
def new_softmax(model: LoadedModel, vocabulary: Vocabulary, *, seed: int) -> SoftmaxHead:
    """A softmax over a vocabulary; words that the model's own softmax has keep their vectors, others start anew."""
    head = SoftmaxHead(vocabulary=len(vocabulary), size=model.config.lstm.output_dim)
    head.initialize(generator_for("weights", seed=seed))
    if model.softmax is None or model.vocabulary is None:
        return head
    shared = [(new, word) for new, word in enumerate(vocabulary.words) if word in model.vocabulary]
    ours = torch.tensor([new for new, _ in shared])
    theirs = torch.from_numpy(model.vocabulary.ids_of(word for _, word in shared))
    old: Softmax = model.softmax
    # A word that is new was too rare for the old softmax: the bias of its rarest word is the best first guess there is.
    head.bias.fill_(float(old.bias.min()))
    head.weight[ours], head.bias[ours] = old.weight[theirs].float(), old.bias[theirs].float()
    return head


def finetuning_card(delivered: LoadedModel, result: FinetuneResult) -> str:
    """The model's card, and what the fine-tuning has brought."""
    rows = {"before fine-tuning": result.before, "after": result.after}
    table = "\n".join(
        f"| {name} | {p.forward:.2f} | {'' if p.backward is None else f'{p.backward:.2f}'} | {p.average:.2f} "
        f"| {p.unknown_rate:.2%} |"
        for name, p in rows.items()
        if p is not None
    )
    added = f", {result.new_words:,} of them new words of the domain" if result.new_words else ""
    verdict = "" if result.gained else "\nHeld-out text is not predicted better: these are the weights from before.\n"
    measured = f"""
## Fine-tuning: perplexity on held-out text of the domain

Over a vocabulary of {result.vocabulary:,}{added}. Words outside of it count as one class.

| | forward | backward | average | out of vocabulary |
|---|---|---|---|---|
{table}
{verdict}"""
    return (delivered.card or "# ELMo model\n") + measured
