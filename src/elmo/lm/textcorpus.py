"""Tokenized sentences as a small corpus in memory: the arrays that a corpus store has, for scoring and measuring."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elmo.corpus.layout import SEPARATOR
from elmo.corpus.store import CorpusStore
from elmo.errors import InputError
from elmo.lm.typetable import TypeTable, make_type_table
from elmo.text.vocabulary import END_SENTENCE_ID
from elmo.weights.loaded import LoadedModel


class TextCorpus(NamedTuple):
    """A text as type ids, with its own type table."""

    table: TypeTable
    tokens: npt.NDArray[np.int32]  # [N], a separator after each sentence
    sentences: npt.NDArray[np.int64]  # [S + 1]


def corpus_of_sentences(model: LoadedModel, sentences: Iterable[Sequence[str]]) -> TextCorpus:
    """Number the words of some sentences as the model spells and targets them."""
    assert model.vocabulary is not None
    numbers: dict[str, int] = {}
    tokens: list[int] = []
    ends = [0]
    for sentence in sentences:
        if isinstance(sentence, str):
            raise InputError(f"a sentence must be a list of tokens, but one is the text {sentence[:40]!r}")
        tokens += [numbers.setdefault(word, len(numbers) + 1) for word in sentence]
        tokens.append(SEPARATOR)
        ends.append(len(tokens))
    words = list(numbers)
    boundaries = model.boundary_rows()
    rows = np.concatenate([boundaries[:1], model.spell(words), boundaries[1:]])
    targets = np.concatenate([[END_SENTENCE_ID], model.vocabulary.ids_of(words)]).astype(np.int64)
    table = TypeTable(torch.from_numpy(rows), torch.from_numpy(targets))
    return TextCorpus(table, np.array(tokens, dtype=np.int32), np.array(ends, dtype=np.int64))


def type_table_for(model: LoadedModel, store: CorpusStore) -> TypeTable:
    """A store's type table with the model's own vocabulary as targets, whatever the store's is."""
    assert model.vocabulary is not None
    targets = store.with_vocabulary(model.vocabulary).type_targets
    return make_type_table(store.type_bytes, store.type_lengths, targets, model.config)
