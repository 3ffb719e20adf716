"""Tokenized sentences as a small corpus in memory: the arrays that a corpus store has, for scoring and measuring."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elmo.corpus.layout import SEPARATOR
from elmo.errors import InputError
from elmo.lm.typetable import TypeTable
from elmo.text.vocabulary import END_SENTENCE_ID
from elmo.weights.loaded import LoadedModel


class TextCorpus(NamedTuple):
    """A text as symbols, with its own type table."""

    table: TypeTable
    symbols: npt.NDArray[np.int32]  # [N], a separator after each sentence
    sentences: npt.NDArray[np.int64]  # [S + 1]


def corpus_of_sentences(model: LoadedModel, sentences: Iterable[Sequence[str]]) -> TextCorpus:
    """Number the words of some sentences as the model spells and targets them."""
    assert model.vocabulary is not None
    numbers: dict[str, int] = {}
    symbols: list[int] = []
    ends = [0]
    for sentence in sentences:
        if isinstance(sentence, str):
            raise InputError(f"a sentence must be a list of tokens, but one is the text {sentence[:40]!r}")
        symbols += [numbers.setdefault(word, len(numbers) + 1) for word in sentence]
        symbols.append(SEPARATOR)
        ends.append(len(symbols))
    words = list(numbers)
    boundaries = model.boundary_rows()
    rows = np.concatenate([boundaries[:1], model.spell(words), boundaries[1:]])
    targets = np.concatenate([[END_SENTENCE_ID], model.vocabulary.ids_of(words)]).astype(np.int64)
    table = TypeTable(torch.from_numpy(rows), torch.from_numpy(targets))
    return TextCorpus(table, np.array(symbols, dtype=np.int32), np.array(ends, dtype=np.int64))
