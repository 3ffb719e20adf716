"""A model's own softmax over a domain: its words stay, and the domain's new words are added.

To the model a new word was `<UNK>`. So what it gives to `<UNK>` is shared out: each new word starts with the vector of
`<UNK>` and its share of the bias, by how often the domain's training text has it; the rest stays with `<UNK>`. The
probabilities of all words that the model knows are as they were.
"""

import dataclasses

import numpy as np
import torch

from elmo.corpus.store import CorpusStore
from elmo.text.vocabulary import UNKNOWN_ID, Vocabulary
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmax import Softmax


def extended_vocabulary(model: LoadedModel, store: CorpusStore) -> Vocabulary:
    """The words of the model, then those of the store's vocabulary that it lacks, as frequent as they are there."""
    assert model.vocabulary is not None
    if model.config.tokens.reads_words:  # it has no vector to read another word with
        return model.vocabulary
    known = model.vocabulary
    return Vocabulary((*known.words, *(word for word in store.vocabulary.words if word not in known)))


@torch.no_grad()
def extend_softmax(model: LoadedModel, store: CorpusStore) -> LoadedModel:
    """The model with a softmax over a store's vocabulary, which begins with its own; the given one stays as it is."""
    assert model.softmax is not None
    assert model.vocabulary is not None
    old, vocabulary = model.softmax, store.vocabulary
    new = len(vocabulary) - len(model.vocabulary)
    if not new:
        return model
    counts = np.bincount(store.type_targets[1:], weights=store.type_counts[1:], minlength=len(vocabulary))
    # At least one each: a word that only the vocabulary has, and a text in which nothing is left for <UNK>.
    parts = torch.from_numpy(np.maximum(1.0, np.concatenate([counts[UNKNOWN_ID : UNKNOWN_ID + 1], counts[-new:]])))
    log_fractions = (parts / parts.sum()).log().float()  # [1 + new]: what stays with <UNK>, and the new words
    weight, bias = old.weight.float(), old.bias.float().clone()
    unknown = bias[UNKNOWN_ID].clone()
    bias[UNKNOWN_ID] += log_fractions[0]
    softmax = Softmax(
        torch.cat([weight, weight[UNKNOWN_ID].expand(new, -1)]).contiguous(),
        torch.cat([bias, unknown + log_fractions[1:]]),
    )
    return dataclasses.replace(model, vocabulary=vocabulary, softmax=softmax)
