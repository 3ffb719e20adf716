"""The LSTM over texts in a fixed shape against packed texts: outputs and all gradients, in float64 and float32."""

import pytest
import torch
from tests.tolerances import assert_near
from torch import nn

from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.networks.padded import Padded, padded_bilstm

LENGTHS = [[1], [7], [5, 5], [2, 9, 1, 4], [1, 1, 1]]
MORE = [0, 1, 6]  # positions behind the longest text


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("highway", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_outputs_and_gradients_are_those_of_packed_texts(
    lengths: list[int], more: int, highway: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    encoder = Encoder(5, 3, layers=3, highway=highway).double()
    for p in encoder.parameters():
        nn.init.uniform_(p, -0.8, 0.8)  # biases too
    N, T = len(lengths), max(lengths)
    x = torch.randn(N, T + more, 5, dtype=torch.float64)  # whatever stands in the padding
    mask = torch.arange(T + more) < torch.tensor(lengths)[:, None]
    weight = torch.randn(N, T + more, 6, dtype=torch.float64)
    found = {}
    for name, kind in (("packed", torch.float64), ("padded", dtype)):
        encoder.to(kind).zero_grad()
        given = x.to(kind, copy=True).requires_grad_()
        read = encoder(given[:, :T], torch.tensor(lengths)) if name == "packed" else encoder(given, Padded(mask))
        (read * weight[:, : read.shape[1]].to(kind)).sum().backward()
        assert given.grad is not None
        gradients = {key: p.grad.clone() for key, p in encoder.named_parameters() if p.grad is not None}
        found[name] = {"output": read[:, :T], "input": given.grad, **gradients}
        assert not read[:, T:].any()
    assert len(found["padded"]) == 2 + len(list(encoder.parameters()))
    for name, value in found["padded"].items():
        assert_near(value, found["packed"][name], dtype=dtype, name=name)


def test_the_backward_direction_comes_to_the_last_token_with_nothing() -> None:
    """Whatever the padding says, and however much the gates are open."""
    torch.manual_seed(0)
    layer = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
    nn.init.constant_(layer.bias_ih_l0_reverse, 30.0)
    x = torch.randn(1, 9, 4)
    x[:, 2:] = 100.0
    mask = torch.arange(9)[None] < 2
    read = padded_bilstm(x, Padded(mask), layer)
    torch.testing.assert_close(read[:, :2], layer(x[:, :2])[0])
    assert not read[:, 2:, 3:].any()
    assert torch.isfinite(read).all()
