"""A biLSTM layer over texts in a fixed shape, their lengths on the device: nothing on the host has to wait for it.

Packed texts want their lengths on the host, and have another shape each time. Here a layer reads the padding too, and
is kept from learning of it: at padding an input of its own closes the input gate, so that the cell adds nothing. The
backward direction then comes to a text's last token with a state of exactly zero, as if it began there; what the
forward direction says behind the last token is masked. Gradients are those of packed texts: at padding all are zero.

N texts, T tokens of the shape, D size of an input, H of the layer.
"""

import warnings
from typing import NamedTuple

import torch
from torch import Tensor, nn

# Added to the input gate at padding: its sigmoid is zero in every type, and a power of two is exact in TF32.
CLOSED = -65536.0
WIDTH_UNIT = 8  # inputs of a product on tensor cores come in such numbers


class Padded(NamedTuple):
    """Which positions have tokens: the place of the lengths that packed texts have on the host."""

    mask: Tensor  # [N, T]


def padded_bilstm(x: Tensor, padded: Padded, layer: nn.LSTM) -> Tensor:
    """What `layer`, one bidirectional one, makes of x [N, T, D]: [N, T, 2H], anything finite past a text's end."""
    N, _, D = x.shape
    H = layer.hidden_size
    more = -(D + 1) % WIDTH_UNIT + 1
    closing = x.new_zeros(4 * H, more)  # the order of gates is in, forget, cell, out
    closing[:H, 0] = CLOSED
    outside = torch.cat([(~padded.mask)[:, :, None].to(x.dtype), x.new_zeros(*x.shape[:2], more - 1)], dim=2)
    weights: list[Tensor] = []
    for side in ("", "_reverse"):
        w_ih, w_hh, b_ih, b_hh = (
            getattr(layer, f"{name}_l0{side}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        weights += [torch.cat([w_ih, closing], dim=1), w_hh, b_ih, b_hh]
    start = x.new_zeros(2, N, H)
    with warnings.catch_warnings():
        # cuDNN wants all weights in one piece, and copies these there.
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
        read: Tensor = torch.lstm(
            torch.cat([x, outside], dim=2), [start, start], weights, True, 1, 0.0, layer.training, True, True
        )[0]
    return read
