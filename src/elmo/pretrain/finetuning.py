"""`finetune`: go on training a model on text of a domain, and know what that brought.

A model that has a softmax keeps it, with the domain's new words added (`extension`). One without (any from HDF5) first
gets one (`softmax`), over the words of general text or, for want of it, of the domain, while its biLM stays as it is.
Then all of it is trained, until
held-out text no longer gains. Both stages are runs as `pretrain` makes them. Before and after are measured over one
vocabulary, and a training that gained nothing leaves the model as it was.
"""

import copy
import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError
from elmo.lm.languagemodel import LanguageModel, softmax_head
from elmo.lm.perplexity import Perplexity, store_perplexity
from elmo.pretrain.checkpoint import find_saved
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.defaults import complete_tuning
from elmo.pretrain.extension import extend_softmax, extended_vocabulary
from elmo.pretrain.result import MODEL, Result, Status
from elmo.pretrain.softmax import SOFTMAX_RUN, prepare_softmax
from elmo.pretrain.stages import RunOptions, Stages, begin_stages
from elmo.run.distributed import started_world
from elmo.weights.card import front_matter, name_base
from elmo.weights.formats import portable_name, read_model, write_model
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)

TRAINING_RUN, HDF5, GENERAL = "training", "hdf5", "general"
FEW_WORDS = 10_000_000
FEW_HELDOUT = 1_000  # words; fewer tell little of whether a fine-tuning helps
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


def finetune(
    model: LoadedModel,
    store: CorpusStore | str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    config: TrainConfig | None = None,
    softmax_config: TrainConfig | None = None,
    general: CorpusStore | str | os.PathLike[str] | None = None,
    **options: Unpack[RunOptions],
) -> FinetuneResult:
    """Fine-tune on a corpus store and write `out_dir/model` and `out_dir/hdf5`.

    `general` is a store of text like that which the model was trained on: where the model has no softmax, one is
    learned on it, which then learns the domain's words as any other does.
    `config` and `softmax_config` are for the two stages; their defaults are the recipes `finetune` and `softmax`. The
    architecture is the model's, whatever they say. The other options are those of `pretrain`.
    """
    out, first = Path(out_dir), started_world().is_first
    opened = store if isinstance(store, CorpusStore) else CorpusStore.open(Path(store))
    if not len(opened.heldout_symbols):
        raise ConfigError(
            f"{opened.folder}: has no held-out text, without which overfitting would go unnoticed; build it again with "
            "more text, or with a larger share of it held out"
        )
    if opened.counts["train"].words < FEW_WORDS:
        logger.info("%s: fewer than ten million words; watch the held-out perplexity", opened.folder)
    config = (config or TrainConfig.recipe("finetune")).replace(model=model.config)
    softmax_config = (softmax_config or TrainConfig.recipe("softmax")).replace(model=model.config)
    if not (config.loss.has_plain_softmax and softmax_config.loss.has_plain_softmax):
        raise ConfigError("loss.kind is 'adaptive', but fine-tuning wants a softmax that stays: 'sampled' or 'full'")
    if not options.get("resume"):
        for name in (SOFTMAX_RUN, TRAINING_RUN):
            find_saved(out / name, resume=False)  # refused now, not after the first perplexity
    has_softmax = model.softmax is not None and model.vocabulary is not None
    if has_softmax and general is not None:
        raise ConfigError(f"{model.source or 'model'}: has a softmax, so that it needs no general text to learn one on")
    if has_softmax:
        opened = opened.with_vocabulary(extended_vocabulary(model, opened))
    stages = begin_stages(out, options)
    if general is not None:
        given = general if isinstance(general, CorpusStore) else CorpusStore.open(Path(general))
        found = _with_softmax(model, given, softmax_config, stages)
        if isinstance(found, Result):
            return FinetuneResult(status=found.status, run=out)
        model, has_softmax = found, True
        opened = opened.with_vocabulary(extended_vocabulary(model, opened))
    elif not has_softmax and first:
        logger.warning(
            "%s has no softmax, and one that is learned on the domain alone pulls the biLM along and knows no other "
            "word; text like that which it was trained on helps (--general-text), or a softmax from a file (--softmax)",
            model.source or "the model",
        )
    prepared = (
        (extend_softmax(model, opened), None) if has_softmax else prepare_softmax(model, opened, softmax_config, stages)
    )
    if isinstance(prepared, Result):
        return FinetuneResult(status=prepared.status, run=out)
    started, measured = prepared
    before = measured or store_perplexity(started, opened, state="carry", device=stages.device)
    if first:
        _tell_start(before, vocabulary=len(opened.vocabulary), out=out, has_softmax=has_softmax)
        logger.info("fine-tuning: all of the model is trained, until held-out text no longer gains")
    assert started.softmax is not None
    # A copy: the caller's model may be used again.
    trained = copy.deepcopy(LanguageModel(started.bilm, softmax_head(started.softmax))).requires_grad_(True).train()
    config = complete_tuning(config, symbols=len(opened.train_symbols), world=started_world().size)
    result = stages.run(TRAINING_RUN, opened, config, trained)
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
    if first:
        logger.info("held-out perplexity after: %.2f", after.average)
        delivered = read_model(result.model)
        if not made.gained:
            logger.warning(
                "held-out text is not predicted better than before (%.2f, before %.2f): the model is left as it was",
                after.average,
                before.average,
            )
            delivered = started.replace(card=delivered.card)
        if opened.tokenizer.rule == "whitespace":
            delivered = delivered.replace(tokenizer=model.tokenizer)  # text that came as tokens has no rule of its own
        card = name_base(finetuning_card(delivered, made), portable_name(model.source))
        write_model(delivered, out / MODEL, card=card, overwrite=True)
        write_model(delivered.replace(softmax=None), out / HDF5, format="bilm-tf", overwrite=True)  # `MODEL` has it
    return made


def _with_softmax(
    model: LoadedModel, general: CorpusStore, config: TrainConfig, stages: Stages
) -> LoadedModel | Result:
    """The model with a softmax learned on general text, or the result of a stage that was stopped."""
    prepared = prepare_softmax(model, general, config, replace(stages, out=stages.out / GENERAL))
    if isinstance(prepared, Result):
        return prepared
    made, _ = prepared
    return model.replace(softmax=made.softmax, vocabulary=made.vocabulary)


def _tell_start(before: Perplexity, *, vocabulary: int, out: Path, has_softmax: bool) -> None:
    logger.info("held-out perplexity before: %.2f", before.average)
    if before.words < FEW_HELDOUT:
        logger.warning(
            "%s: %s words are held out, too few to tell whether a fine-tuning helps; give more text, or a larger share "
            "of it (--heldout)",
            out,
            f"{before.words:,}",
        )
    if before.unknown_rate > MANY_OUTSIDE:
        logger.warning(
            "%s: %.1f %% of the held-out words are outside the vocabulary of %s and count as one class, which makes "
            "perplexities small; compare them with each other alone, and use %s",
            out,
            100 * before.unknown_rate,
            f"{vocabulary:,}",
            "more text" if has_softmax else "more text or a model with a softmax",
        )


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
    return (delivered.card or front_matter(delivered.tokenizer.language) + "# ELMo model\n") + measured
