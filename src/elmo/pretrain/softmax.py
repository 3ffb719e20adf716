"""`train_softmax`: a softmax over the words of a text, for a biLM that stays as it is.

It is also the first stage of fine-tuning. Any model from HDF5 comes without one; perplexity, scores and fine-tuning
need one.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import torch

from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.errors import ConfigError, ResumeError
from elmo.lm.head import SoftmaxHead
from elmo.lm.languagemodel import LanguageModel
from elmo.lm.perplexity import Perplexity, store_perplexity
from elmo.model.frozen import frozen_copy
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.result import MODEL, Result, Status
from elmo.pretrain.stages import RunOptions, Stages, begin_stages
from elmo.run.distributed import started_world
from elmo.run.randomness import generator_for
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import is_native
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import write_softmax

logger = logging.getLogger(__name__)

SOFTMAX_RUN, SOFTMAX_FILE = "softmax", "softmax.safetensors"
_OTHER = "go on with what the run was begun with, or choose another directory"


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
    **options: Unpack[RunOptions],
) -> SoftmaxResult:
    """Train a softmax over a corpus store's vocabulary for a biLM, which stays as it is: `out_dir/softmax.safetensors`.

    Words that the model's own softmax has start with their vectors. `config` is by default the recipe `softmax`; the
    other options are those of `pretrain`.
    """
    opened = store if isinstance(store, CorpusStore) else CorpusStore.open(Path(store))
    config = (config or TrainConfig.recipe("softmax")).replace(model=model.config)
    if not config.loss.has_plain_softmax:
        raise ConfigError("loss.kind is 'adaptive', but a softmax file holds a plain one: 'sampled' or 'full'")
    stages = begin_stages(Path(out_dir), options)
    prepared = prepare_softmax(model, opened, config, stages)
    if isinstance(prepared, Result):
        return SoftmaxResult(status=prepared.status, run=stages.out)
    made, perplexity = prepared
    if perplexity is None and len(opened.heldout_symbols):
        perplexity = store_perplexity(made, opened, state="carry", device=stages.device)
    file = stages.out / SOFTMAX_FILE
    if started_world().is_first:
        write_softmax(made, file, bilms=[model.sha256])
    return SoftmaxResult(status="finished", run=stages.out, perplexity=perplexity, file=file)


def prepare_softmax(
    model: LoadedModel, store: CorpusStore, config: TrainConfig, stages: Stages
) -> tuple[LoadedModel, Perplexity | None] | Result:
    """The model with a softmax trained over the store's vocabulary, or the result of a stage that was stopped.

    With the model comes its held-out perplexity (state carried) where this call has measured it: over a large
    vocabulary that takes minutes on a CPU.
    """
    vocabulary, first = store.vocabulary, started_world().is_first
    own = model.has_softmax and model.vocabulary is not None and model.vocabulary.words == vocabulary.words
    if model.config.tokens.reads_words and not own:
        raise ConfigError(
            f"{model.source or 'model'}: reads words of its own vocabulary, so the corpus must be built with it; "
            "`elmo corpus build --vocabulary` takes a vocabulary"
        )
    finished, perplexity = stages.out / SOFTMAX_RUN / MODEL, None
    if first:
        clean_up(finished.parent)  # if it was killed when its model was written
    if not (stages.resume and is_native(finished)):
        head = new_softmax(model, vocabulary, seed=config.seed)
        if first:
            logger.info("softmax: over the %s words of the text; the biLM stays as it is", f"{len(vocabulary):,}")
        result = stages.run(SOFTMAX_RUN, store, config, LanguageModel(frozen_copy(model.bilm), head))
        if not result.done:
            return result
        perplexity = result.perplexity
    made = read_model(finished)
    if made.sha256 != model.sha256:
        raise ResumeError(f"{finished}: was made for another model than {model.source}; {_OTHER}")
    if made.softmax is None or made.vocabulary is None or made.vocabulary.words != vocabulary.words:
        raise ResumeError(f"{finished}: has no softmax over the words of {store.folder}; {_OTHER}")
    return made, perplexity


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
