"""Reading a text for evaluation: each symbol once in each direction, whatever the way."""

import numpy as np
import pytest

from elmo.lm.reading import carried_reading, part_of, sentence_readings

LENGTHS = (3, 1, 5, 0, 2, 5)


def text(lengths=LENGTHS):
    symbols, ends, word = [], [0], 1
    for length in lengths:
        symbols += [*range(word, word + length), 0]
        word += length
        ends.append(len(symbols))
    return np.array(symbols, np.int32), np.array(ends, np.int64)


def rows_of(reading, direction):
    """(inputs, targets) of each row, where there is something."""
    rows = []
    for row in range(reading.inputs.shape[2]):
        alive = reading.alive[:, row]
        rows.append((reading.inputs[direction, alive, row].tolist(), reading.targets[direction, alive, row].tolist()))
    return rows


def test_a_carried_text_is_read_from_both_ends():
    symbols, _ = text()
    reading = carried_reading(symbols, directions=2)
    ((inputs, targets),) = rows_of(reading, 0)
    assert targets == symbols.tolist()
    assert inputs == [0, *symbols[:-1].tolist()]
    ((inputs, targets),) = rows_of(reading, 1)
    assert targets == [*symbols[::-1][1:].tolist(), 0]
    assert inputs == [0, *targets[:-1]]


def test_a_long_text_goes_into_rows_that_follow_each_other():
    symbols, _ = text((20,) * 100)
    reading = carried_reading(symbols, directions=2)
    assert reading.inputs.shape[2] == 4
    for direction in (0, 1):
        rows = rows_of(reading, direction)
        inputs, targets = ([symbol for row in rows for symbol in row[side]] for side in (0, 1))
        assert inputs == [0, *targets[:-1]]
        assert len(targets) == len(symbols)
        assert sorted(targets) == sorted(symbols.tolist())


def test_sentences_are_read_one_a_row_in_both_directions():
    symbols, ends = text()
    found = {0: {}, 1: {}}
    for reading in sentence_readings(symbols, ends, directions=2):
        for direction in (0, 1):
            for sentence, row in zip(reading.sentences.tolist(), rows_of(reading, direction), strict=True):
                found[direction][sentence] = row
    for sentence in range(len(LENGTHS)):
        words = symbols[ends[sentence] : ends[sentence + 1] - 1].tolist()
        assert found[0][sentence] == ([0, *words], [*words, 0])
        assert found[1][sentence] == ([0, *words[::-1]], [*words[::-1], 0])


def test_one_direction_is_the_forward_one():
    symbols, ends = text()
    (reading, *_) = sentence_readings(symbols, ends, directions=1)
    assert len(reading.inputs) == len(carried_reading(symbols, directions=1).targets) == 1


def test_a_part_is_whole_sentences_spread_over_the_text():
    symbols, ends = text((9,) * 400)
    part, part_ends = part_of(symbols, ends, symbol_count=1000)
    assert len(part) == pytest.approx(1000, rel=0.1)
    assert part_ends[-1] == len(part)
    assert (part[part_ends[1:] - 1] == 0).all()
    assert part.max() > 3000
    assert part_of(symbols, ends, symbol_count=None)[0] is symbols
    assert len(part_of(symbols, ends, symbol_count=1)[0]) == 80  # at least one block of eight sentences
