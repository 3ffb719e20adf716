"""Perplexity against a sum by hand, position by position."""

import math

import numpy as np
import pytest
import torch

from elmo.corpus.store import CorpusStore
from elmo.errors import ConfigError, InputError
from elmo.lm.perplexity import measure_perplexity
from elmo.lm.typetable import make_type_table
from elmo.model.state import State
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model


@pytest.fixture(scope="module")
def opened(toy_store):
    return CorpusStore.open(toy_store)


@pytest.fixture(scope="module")
def model(opened):
    made = new_model(TrainConfig(size="tiny"), vocabulary=len(opened.vocabulary))
    made.bilm.settled_h.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(4))
    made.bilm.settled_c.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(5))
    return made


@pytest.fixture(scope="module")
def table(opened, model):
    return make_type_table(opened.type_bytes, opened.type_lengths, opened.type_targets, model.bilm.config)


@torch.no_grad()
def by_hand(model, table, symbols, direction, state):
    """The sum of the losses of a stream of symbols, one step of one row at a time."""
    total, before = 0.0, 0
    for symbol in symbols:
        both = torch.tensor([[[before]], [[before]]])
        row = table.rows[table.input_symbols(both)[direction].reshape(1)]
        x = model.bilm.tokens(row)[None, None].expand(2, 1, 1, -1)
        outputs, state = model.bilm.lstm(x, state)
        scores = model.head.weight @ outputs[-1][direction, 0, 0] + model.head.bias
        target = int(table.target_ids(torch.tensor([[[symbol]], [[symbol]]]))[direction])
        total -= float(torch.log_softmax(scores.double(), 0)[target])
        before = symbol
    return total


@pytest.mark.parametrize("mode", ["settled", "zero"])
def test_each_sentence_starts_from_the_named_state(opened, model, table, mode):
    symbols, ends = opened.heldout_symbols, opened.heldout_sentences
    found = measure_perplexity(model, table, symbols, ends, state=mode)
    totals = [0.0, 0.0]
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        words = symbols[first : last - 1].tolist()
        start = model.bilm.zero_state(1) if mode == "zero" else model.bilm.settled_state(1)
        for direction, order in enumerate((words, words[::-1])):
            totals[direction] += by_hand(model, table, [*order, 0], direction, State(*start))
    forward, backward = (total / len(symbols) for total in totals)
    assert found.forward == pytest.approx(math.exp(forward), rel=1e-5)
    assert found.backward == pytest.approx(math.exp(backward), rel=1e-5)
    assert found.average == pytest.approx(math.exp((forward + backward) / 2), rel=1e-5)


def test_a_carried_text_is_one_stream_in_each_direction(opened, model, table):
    symbols, ends = opened.heldout_symbols, opened.heldout_sentences
    found = measure_perplexity(model, table, symbols, ends, state="carry")
    text = symbols.tolist()
    forward = by_hand(model, table, text, 0, model.bilm.zero_state(1)) / len(text)
    backward = by_hand(model, table, [*text[::-1][1:], 0], 1, model.bilm.zero_state(1)) / len(text)
    assert found.forward == pytest.approx(math.exp(forward), rel=1e-5)
    assert found.backward == pytest.approx(math.exp(backward), rel=1e-5)


def test_words_outside_the_vocabulary_are_counted(opened, model, table):
    found = measure_perplexity(model, table, opened.heldout_symbols, opened.heldout_sentences)
    words = [opened.spelling(n) for n in opened.heldout_symbols.tolist() if n]
    unknown = [word for word in words if word not in opened.vocabulary]
    assert (found.symbols, found.words, found.unknown) == (len(opened.heldout_symbols), len(words), len(unknown))
    assert found.unknown_rate == len(unknown) / len(words) > 0


def test_an_untrained_model_with_no_preference_has_the_vocabulary_size_as_perplexity(opened, table):
    plain = new_model(TrainConfig(size="tiny"), vocabulary=len(opened.vocabulary))
    with torch.no_grad():
        plain.head.weight.zero_()
    found = measure_perplexity(plain, table, opened.heldout_symbols, opened.heldout_sentences)
    assert found.average == pytest.approx(len(opened.vocabulary))


def test_an_exploded_model_has_a_finite_perplexity(opened, table):
    wild = new_model(TrainConfig(size="tiny"), vocabulary=len(opened.vocabulary))
    with torch.no_grad():
        wild.head.bias[5] = 1e9
    found = measure_perplexity(wild, table, opened.heldout_symbols, opened.heldout_sentences)
    assert math.isfinite(found.average)


def test_no_text_is_an_error(model, table):
    with pytest.raises(InputError, match="no text"):
        measure_perplexity(model, table, np.zeros(0, np.int32), np.zeros(1, np.int64))


def test_an_unknown_state_is_refused(opened, model, table):
    with pytest.raises(ConfigError, match="'settled', 'zero' or 'carry'"):
        measure_perplexity(model, table, opened.heldout_symbols, opened.heldout_sentences, state="cold")
