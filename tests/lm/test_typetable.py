"""The type table: spelled rows for models of characters, word ids for models of words."""

import numpy as np
import pytest

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError
from elmo.lm.typetable import make_type_table
from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.model.words import WordTableConfig
from elmo.text.chars import boundary_rows, spell

LSTM = BiLSTMConfig(input_dim=8, cell_dim=8)


def characters(count=50):
    return BiLMConfig(
        tokens=CharCNNConfig(embedding_dim=4, filters=((1, 8),), output_dim=8, characters=count), lstm=LSTM
    )


@pytest.mark.parametrize("count", [50, 6])
def test_rows_are_the_spelled_words_between_the_boundaries(toy_store, count):
    store = CorpusStore.open(toy_store)
    table = make_type_table(store.type_bytes, store.type_lengths, store.type_targets, characters(count))
    words = [store.spelling(n) for n in range(1, store.types)]
    expected = np.concatenate(
        [boundary_rows(characters=count)[:1], spell(words, characters=count), boundary_rows(characters=count)[1:]]
    )
    assert (table.rows.numpy() == expected).all()
    assert table.targets.tolist() == store.type_targets.tolist()


def test_a_model_of_words_reads_vocabulary_ids_plus_one(toy_store):
    store = CorpusStore.open(toy_store)
    config = BiLMConfig(tokens=WordTableConfig(words=len(store.vocabulary), output_dim=8), lstm=LSTM)
    table = make_type_table(store.type_bytes, store.type_lengths, store.type_targets, config)
    words = [store.spelling(n) for n in range(1, store.types)]
    assert table.rows[:, 0].tolist() == [1, *(store.vocabulary.ids_of(words) + 1).tolist(), 2]


def test_rows_longer_than_the_store_keeps_are_refused(toy_store):
    store = CorpusStore.open(toy_store)
    with pytest.raises(ConfigError, match="at most 50"):
        make_type_table(store.type_bytes, store.type_lengths, store.type_targets, characters(60))
