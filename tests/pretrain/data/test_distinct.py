"""Distinct rows: both ways refer every position to its own row."""

import torch

from elmo.pretrain.data.distinct import distinct_rows, distinct_rows_within


def test_every_position_finds_its_row_either_way():
    rows = torch.randint(0, 50, (2, 5, 4), generator=torch.Generator().manual_seed(0))
    for find in (
        distinct_rows,
        distinct_rows_within(40, table_rows=50),
        distinct_rows_within(len(rows.unique()), table_rows=50),
    ):
        distinct, inverse = find(rows)
        assert torch.equal(distinct[inverse], rows)
        assert inverse.shape == rows.shape


def test_a_fixed_number_of_places_is_filled_up_with_row_0():
    distinct, inverse = distinct_rows_within(6, table_rows=9)(torch.tensor([[8, 3], [3, 8]]))
    assert distinct.tolist() == [3, 8, 0, 0, 0, 0]
    assert inverse.tolist() == [[1, 0], [0, 1]]
