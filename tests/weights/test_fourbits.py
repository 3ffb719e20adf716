"""Four bits: the packed format as a slow reader sees it, and how far numbers may be off."""

import struct

import pytest
import torch

from elmo.errors import WeightsError
from elmo.weights.fourbits import GROUP, LEVELS, RANGES, dequantize4, quantize4


def read_slowly(packed: torch.Tensor, scale: torch.Tensor) -> list[list[float]]:
    """The format as its description has it: byte by byte, number by number."""
    group = 2 * packed.shape[1] // scale.shape[1]
    table = []
    for number, row in enumerate(packed.tolist()):
        halves = [half for byte in row for half in (byte % 16, byte // 16)]
        table.append([(half - 8) * float(scale[number, column // group]) for column, half in enumerate(halves)])
    return table


def random_table(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(1)) * torch.logspace(-3, 2, rows)[:, None]


@pytest.mark.parametrize(("columns", "group"), [(64, 32), (64, 64), (8, 32), (48, 32), (6, 32)])
def test_the_fast_reader_reads_what_the_slow_one_reads(columns, group):
    packed, scale = quantize4(random_table(5, columns), group=group)
    assert (packed.dtype, scale.dtype) == (torch.uint8, torch.float16)
    assert packed.shape == (5, columns // 2)
    assert columns % scale.shape[1] == 0
    assert dequantize4(packed, scale).tolist() == read_slowly(packed, scale)


def test_a_table_written_by_hand_is_read():
    packed = torch.tensor([[0x1F, 0x80]], dtype=torch.uint8)  # 15 and 1, 0 and 8: less eight
    half = torch.tensor(list(struct.unpack("<2e", struct.pack("<2e", 0.5, 2.0))), dtype=torch.float16)
    assert dequantize4(packed, half.view(1, 2)).tolist() == [[3.5, -3.5, -16.0, 0.0]]


def test_numbers_inside_the_range_are_off_by_half_a_step_and_the_largest_by_what_is_cut_off():
    table = random_table(40, 64)
    packed, scale = quantize4(table)
    steps = scale.float().repeat_interleave(GROUP, dim=1)
    error = (dequantize4(packed, scale) - table).abs()
    inside = table.abs() <= LEVELS * steps
    assert (error[inside] <= 0.501 * steps[inside]).all()
    assert (error <= 0.501 * steps + (1 - min(RANGES)) * table.abs()).all()


def test_the_range_is_searched_for_the_least_error():
    table = random_table(40, 64)
    packed, scale = quantize4(table)
    whole = table.view(40, 2, 32).abs().amax(2, keepdim=True) / LEVELS
    plain = ((table.view(40, 2, 32) / whole).round() * whole).view(40, 64)
    assert (dequantize4(packed, scale) - table).square().sum() < 0.97 * (plain - table).square().sum()


def test_zeros_stay_zero_and_numbers_too_small_for_a_scale_become_zero():
    table = torch.zeros(2, 32)
    table[1] = 1e-9
    assert not dequantize4(*quantize4(table)).any()


@pytest.mark.parametrize(("table", "message"), [(torch.zeros(2, 3), "even"), (torch.full((1, 2), 1e7), "too large")])
def test_what_four_bits_cannot_hold_is_refused(table, message):
    with pytest.raises(WeightsError, match=message):
        quantize4(table)
