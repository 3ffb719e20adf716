"""Four bits: the packed format as a slow reader sees it, and how far numbers may be off."""

import struct

import numpy as np
import pytest

from elmo.errors import WeightsError
from elmo.weights.fourbits import GROUP, LEVELS, RANGES, dequantize4, quantize4


def read_slowly(packed: np.ndarray, scale: np.ndarray) -> list[list[float]]:
    """The format as its description has it: byte by byte, number by number."""
    group = 2 * packed.shape[1] // scale.shape[1]
    table = []
    for number, row in enumerate(packed.tolist()):
        halves = [half for byte in row for half in (byte % 16, byte // 16)]
        table.append([(half - 8) * float(scale[number, column // group]) for column, half in enumerate(halves)])
    return table


def random_table(rows: int, columns: int) -> np.ndarray:
    table = np.random.default_rng(1).standard_normal((rows, columns), np.float32)
    return table * np.logspace(-3, 2, rows, dtype=np.float32)[:, None]


@pytest.mark.parametrize(("columns", "group"), [(64, 32), (64, 64), (8, 32), (48, 32), (6, 32)])
def test_the_fast_reader_reads_what_the_slow_one_reads(columns, group):
    packed, scale = quantize4(random_table(5, columns), group=group)
    assert (packed.dtype, scale.dtype) == (np.uint8, np.float16)
    assert packed.shape == (5, columns // 2)
    assert columns % scale.shape[1] == 0
    assert dequantize4(packed, scale).tolist() == read_slowly(packed, scale)


def test_a_table_written_by_hand_is_read():
    packed = np.array([[0x1F, 0x80]], np.uint8)  # 15 and 1, 0 and 8: less eight
    half = np.array(struct.unpack("<2e", struct.pack("<2e", 0.5, 2.0)), np.float16)
    assert dequantize4(packed, half.reshape(1, 2)).tolist() == [[3.5, -3.5, -16.0, 0.0]]


def test_numbers_inside_the_range_are_off_by_half_a_step_and_the_largest_by_what_is_cut_off():
    table = random_table(40, 64)
    packed, scale = quantize4(table)
    steps = scale.astype(np.float32).repeat(GROUP, axis=1)
    error = np.abs(dequantize4(packed, scale) - table)
    inside = np.abs(table) <= LEVELS * steps
    assert (error[inside] <= 0.501 * steps[inside]).all()
    assert (error <= 0.501 * steps + (1 - min(RANGES)) * np.abs(table)).all()


def test_the_range_is_searched_for_the_least_error():
    table = random_table(40, 64)
    packed, scale = quantize4(table)
    grouped = table.reshape(40, 2, 32)
    whole = np.abs(grouped).max(2, keepdims=True) / LEVELS
    plain = (np.rint(grouped / whole) * whole).reshape(40, 64)
    assert np.square(dequantize4(packed, scale) - table).sum() < 0.97 * np.square(plain - table).sum()


def test_zeros_stay_zero_and_numbers_too_small_for_a_scale_become_zero():
    table = np.zeros((2, 32), np.float32)
    table[1] = 1e-9
    assert not dequantize4(*quantize4(table)).any()


@pytest.mark.parametrize(
    ("table", "message"), [(np.zeros((2, 3), np.float32), "even"), (np.full((1, 2), 1e7, np.float32), "too large")]
)
def test_what_four_bits_cannot_hold_is_refused(table, message):
    with pytest.raises(WeightsError, match=message):
        quantize4(table)
