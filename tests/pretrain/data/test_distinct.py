"""Distinct symbols: both ways refer every position to its own."""

import torch

from elmo.pretrain.data.distinct import distinct_symbols, distinct_symbols_within


def test_every_position_finds_its_symbol_either_way():
    symbols = torch.randint(0, 50, (2, 5, 4), generator=torch.Generator().manual_seed(0))
    for find in (
        distinct_symbols,
        distinct_symbols_within(40, symbol_count=50),
        distinct_symbols_within(len(symbols.unique()), symbol_count=50),
    ):
        distinct, inverse = find(symbols)
        assert torch.equal(distinct[inverse], symbols)
        assert inverse.shape == symbols.shape


def test_a_fixed_number_of_places_is_filled_up_with_symbol_0():
    distinct, inverse = distinct_symbols_within(6, symbol_count=9)(torch.tensor([[8, 3], [3, 8]]))
    assert distinct.tolist() == [3, 8, 0, 0, 0, 0]
    assert inverse.tolist() == [[1, 0], [0, 1]]
