"""A frozen copy: the same numbers in the same memory; what is done to it is not done to the original."""

import torch
from tests.tiny import make_bilm

from elmo.model.frozen import frozen_copy


def test_it_shares_memory_and_takes_no_gradient() -> None:
    bilm = make_bilm().requires_grad_(True)
    frozen = frozen_copy(bilm)
    for ours, theirs in zip(frozen.parameters(), bilm.parameters(), strict=True):
        assert ours.data_ptr() == theirs.data_ptr()
        assert (ours.requires_grad, theirs.requires_grad) == (False, True)


def test_casting_it_leaves_the_original_as_it_is() -> None:
    bilm = make_bilm()
    before = {name: tensor.clone() for name, tensor in bilm.state_dict().items()}
    frozen = frozen_copy(bilm).double()
    for tensor in frozen.state_dict().values():
        tensor.zero_()
    assert {p.dtype for p in bilm.parameters()} == {torch.float32}
    assert all(torch.equal(tensor, before[name]) for name, tensor in bilm.state_dict().items())
