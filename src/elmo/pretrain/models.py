"""The model of a run: made new, as a reader of files has it, and taken back from a checkpoint's files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from elmo.corpus.store import CorpusStore
from elmo.errors import ResumeError
from elmo.lm.adaptive import FILE as ADAPTIVE_FILE
from elmo.lm.adaptive import AdaptiveHead, read_adaptive, write_adaptive
from elmo.lm.head import SoftmaxHead, make_head
from elmo.lm.languagemodel import LanguageModel
from elmo.model.bilm import BiLM
from elmo.pretrain.config import TrainConfig
from elmo.run.randomness import generator_for
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel, Training
from elmo.weights.native import read_native
from elmo.weights.softmax import Softmax


def new_model(config: TrainConfig, *, vocabulary: int) -> LanguageModel:
    """An initialized model of the configured architecture, on the CPU."""
    architecture = config.architecture
    architecture.tokens.require_vocabulary(vocabulary)
    bilm = BiLM(architecture)
    head = make_head(config.loss, vocabulary=vocabulary, size=architecture.lstm.output_dim)
    generator = generator_for("weights", seed=config.seed)
    bilm.initialize(generator)
    head.initialize(generator)
    return LanguageModel(bilm, head)


def loaded_model(
    model: LanguageModel,
    store: CorpusStore,
    *,
    tokenizer: Tokenizer | None = None,
    training: Training | None = None,
) -> LoadedModel:
    """The model as a reader of files would have it, its settled state computed anew; by default the store's tokens."""
    head = model.head
    loaded = LoadedModel(
        bilm=model.bilm,
        tokenizer=tokenizer or store.tokenizer,
        vocabulary=store.vocabulary,
        softmax=Softmax(head.weight, head.bias) if isinstance(head, SoftmaxHead) else None,
        training=training,
    )
    loaded.settle()
    return loaded


def extra_files(model: LanguageModel) -> dict[str, Callable[[Path], None]]:
    """Files of the model that its format does not know, by name, each with what writes it."""
    head = model.head
    return {ADAPTIVE_FILE: partial(write_adaptive, head)} if isinstance(head, AdaptiveHead) else {}


@torch.no_grad()
def restore_weights(model: LanguageModel, path: Path) -> None:
    """Give a model the weights of a checkpoint."""
    head = model.head
    saved = read_native(path)
    model.bilm.load_state_dict(saved.bilm.state_dict())
    if isinstance(head, AdaptiveHead):
        adaptive = read_adaptive(path, vocabulary=head.vocabulary, size=head.softmax.in_features)
        if adaptive is None:
            raise ResumeError(f"{path}: has no adaptive softmax, but the loss needs it")
        head.load_state_dict(adaptive.state_dict())
    elif saved.softmax is None:
        raise ResumeError(f"{path}: has no softmax, but the loss needs it")
    else:
        head.weight.copy_(saved.softmax.weight)
        head.bias.copy_(saved.softmax.bias)
