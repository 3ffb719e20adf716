"""A biLM with its output layer: what is trained, and what gives probabilities to words."""

from pathlib import Path

import torch
from torch import nn

from elmo.errors import WeightsError
from elmo.lm.adaptive import read_adaptive
from elmo.lm.head import Head, SoftmaxHead
from elmo.model.bilm import BiLM
from elmo.model.frozen import frozen_copy
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmax import Softmax


class LanguageModel(nn.Module):
    """All that is trained. The output layer is shared by both directions."""

    def __init__(self, bilm: BiLM, head: Head) -> None:
        super().__init__()
        self.bilm = bilm
        self.head = head


def language_model(loaded: LoadedModel, *, device: torch.device | None = None) -> LanguageModel:
    """The language model in a loaded model; fails where its softmax or vocabulary is missing."""
    head = output_layer(loaded)
    if head is None or loaded.vocabulary is None:
        missing = "softmax" if head is None else "vocabulary"
        raise WeightsError(
            f"{loaded.source or 'model'}: has no {missing}, so it cannot give probabilities to words; give a softmax "
            "file (--softmax), or build one from text with `elmo finetune TEXT -o OUT --softmax-only --model MODEL`"
        )
    return frozen_copy(LanguageModel(loaded.bilm, head)).to(device)


def output_layer(loaded: LoadedModel) -> Head | None:
    """The softmax of a loaded model, plain or adaptive, if it has one."""
    if loaded.softmax is not None:
        return softmax_head(loaded.softmax)
    if loaded.vocabulary is None or loaded.source is None:
        return None
    return read_adaptive(Path(loaded.source), vocabulary=len(loaded.vocabulary), size=loaded.config.lstm.output_dim)


def softmax_head(softmax: Softmax) -> SoftmaxHead:
    """A layer that uses these tensors as they are."""
    with torch.device("meta"):
        head = SoftmaxHead(vocabulary=len(softmax.weight), size=softmax.weight.shape[1])
    head.load_state_dict(softmax._asdict(), assign=True)
    return head
