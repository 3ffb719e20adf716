"""The LSTM of a CPU's training against PyTorch's: outputs and all gradients, in float64 and float32."""

import pytest
import torch
from tests.tolerances import assert_near
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from elmo.tasks.networks.packedlstm import _Direction, packed_bilstm

LENGTHS = [[1], [7], [5, 5], [2, 9, 1, 4], [1, 1, 1]]


def pack(x: Tensor, lengths: list[int]) -> PackedSequence:
    return pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_outputs_and_gradients_are_those_of_pytorch(lengths: list[int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(5, 3, batch_first=True, bidirectional=True, dtype=torch.float64)
    inputs = torch.randn(len(lengths), max(lengths), 5, dtype=torch.float64)
    weight = torch.randn(sum(lengths), 6, dtype=torch.float64)
    found = {}
    for name, kind in (("theirs", torch.float64), ("ours", dtype)):
        layer.to(kind).zero_grad()
        x = inputs.to(kind, copy=True).requires_grad_()
        packed = pack(x, lengths)
        read = layer(packed)[0] if name == "theirs" else packed_bilstm(packed, layer)
        (read.data * weight.to(kind)).sum().backward()
        gradients = {key: p.grad.clone() for key, p in layer.named_parameters() if p.grad is not None}
        assert x.grad is not None
        found[name] = {"output": read.data, "input": x.grad, **gradients}
    assert len(found["ours"]) == 10
    for name, value in found["ours"].items():
        assert_near(value, found["theirs"][name], dtype=dtype, name=name)


@pytest.mark.parametrize("backwards", [False, True])
def test_its_gradients_are_those_of_differences(backwards: bool) -> None:
    torch.manual_seed(0)
    projected = torch.randn(9, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(8, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: _Direction.apply(x, w, [4, 3, 1, 1], backwards), (projected, weight))
