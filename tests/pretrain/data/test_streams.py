"""Streams: positions as the original has them, each batch a function of its step, rows divided by rank."""

from itertools import pairwise

import numpy as np
import pytest

from elmo.errors import ConfigError
from elmo.pretrain.data.streams import Streams, rows_of_rank, windows_per_epoch

INPUTS, TARGETS = slice(None, -1), slice(1, None)
LENGTHS = (3, 1, 5, 2, 4, 7, 1, 6, 3, 2, 9, 4)


def split(lengths=LENGTHS, *, document=3):
    """Sentences of words that are all different, so that a word says where it stands."""
    symbols, ends, word = [], [0], 1
    for length in lengths:
        symbols += [*range(word, word + length), 0]
        word += length
        ends.append(len(symbols))
    documents = [*range(0, len(lengths), document), len(lengths)]
    return np.array(symbols, np.int32), np.array(ends, np.int64), np.array(documents, np.int64)


def streams(**options):
    return Streams(*split(), **{"seed": 5, "batch": 2, "window": 4, **options})


def read_epoch(made, direction, epoch=0):
    """Inputs and targets of a whole epoch, row after row."""
    steps = [made.symbols(epoch * made.windows + window)[direction] for window in range(made.windows)]
    return [np.concatenate([symbols[side] for symbols in steps]).T.reshape(-1) for side in (INPUTS, TARGETS)]


def sentences_in(symbols):
    found, words = [], []
    for symbol in symbols.tolist():
        if symbol:
            words.append(symbol)
        else:
            found.append(tuple(words))
            words = []
    return found


def test_target_of_a_position_is_the_input_of_the_next():
    inputs, targets = read_epoch(streams(batch=1), 0)
    assert inputs[0] == 0
    assert (inputs[1:] == targets[:-1]).all()


def test_forward_reads_whole_sentences_each_once():
    made = streams(batch=1, window=1)
    _, targets = read_epoch(made, 0)
    symbols, ends, _ = split()
    wanted = {tuple(symbols[a : b - 1].tolist()) for a, b in pairwise(ends)}
    found = sentences_in(targets)
    assert len(found) == len(LENGTHS)
    assert set(found) == wanted


def test_backward_reads_the_same_sentences_from_their_ends():
    made = streams(batch=1, window=1)
    forward, backward = (sentences_in(read_epoch(made, direction)[1]) for direction in (0, 1))
    assert {tuple(reversed(sentence)) for sentence in backward} == set(forward)
    assert [tuple(reversed(sentence)) for sentence in backward] != forward  # an order of its own


def test_each_epoch_has_another_order():
    made = streams(batch=1, window=1)
    first, second = (sentences_in(read_epoch(made, 0, epoch)[1]) for epoch in (0, 1))
    assert sorted(first) == sorted(second)
    assert first != second


def test_windows_of_a_row_follow_each_other():
    made = streams(batch=3)
    whole, _ = read_epoch(streams(batch=1, window=1), 0)
    rows = np.concatenate([made.symbols(step)[0, INPUTS] for step in range(made.windows)])  # [time, rows]
    length = made.windows * made.window
    for row in range(3):
        assert (rows[:, row] == whole[row * length : (row + 1) * length]).all()


def test_a_batch_does_not_depend_on_what_was_asked_before():
    asked = streams()
    for step in (7, 0, 13, 2):
        asked.symbols(step)
    assert (asked.symbols(9) == streams().symbols(9)).all()


@pytest.mark.parametrize("order", ["sentence", "document"])
def test_gathered_windows_equal_the_laid_out_epoch(order):
    laid_out, gathered = streams(order=order), streams(order=order, memory_budget=0)
    for step in range(2 * laid_out.windows):
        ours, theirs = laid_out.symbols(step), gathered.symbols(step)
        assert ours.dtype == theirs.dtype == np.int32
        assert (ours == theirs).all()


def test_a_changed_seed_changes_the_order():
    assert (streams(seed=5).symbols(0) != streams(seed=6).symbols(0)).any()


def test_document_order_keeps_the_sentences_of_a_document_together():
    made = streams(batch=1, window=1, order="document")
    symbols, ends, documents = split()
    texts = [tuple(symbols[a : b - 1].tolist()) for a, b in pairwise(ends)]
    wanted = [texts[a:b] for a, b in pairwise(documents)]
    for direction in (0, 1):
        found = sentences_in(read_epoch(made, direction)[1])
        if direction == 1:  # reversed as a whole, a backward reader's text is the text
            found = [tuple(reversed(sentence)) for sentence in reversed(found)]
        together = [found[start : start + 3] for start in range(0, len(found), 3)]
        assert sorted(together) == sorted(wanted)
        assert together != wanted


def test_ranks_share_the_rows():
    whole = streams(batch=4).symbols(1)
    parts = [streams(batch=4).symbols(1, rows_of_rank(4, rank=rank, world=2)) for rank in range(2)]
    assert (np.concatenate(parts, axis=2) == whole).all()


def test_one_direction_reads_forward_only():
    assert streams(directions=1).symbols(0).shape == (1, 5, 2)


def test_cursor_counts_epochs_and_windows():
    made = streams()
    assert made.cursor(made.windows * 2 + 3) == (2, 3)


def test_a_batch_larger_than_the_text_is_refused_with_the_cure():
    with pytest.raises(ConfigError, match="at most 5 rows"):
        windows_per_epoch(100, batch=6, window=20)


def test_rows_that_do_not_divide_are_refused():
    with pytest.raises(ConfigError, match="multiple of 2"):
        rows_of_rank(5, rank=0, world=2)
