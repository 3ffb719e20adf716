"""Convolutions over the characters of words, maximum over each word: the one function that everything else calls.

W words, C characters in a row, E character embedding; filters of several widths, F in all.
`char_convolution_reference` says what it means; `charconv_grouped` is fast in plain torch, `charconv_cuda` on a GPU.
Both compute only the windows that a word has: behind its end all windows see padding, so that one of them is enough.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import conv1d, embedding

from elmo.ops.charconv.grouped import char_convolution_grouped
from elmo.ops.gpu.triton_support import triton_runs_on


def char_convolution(
    rows: Tensor, table: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], *, padding_id: int
) -> Tensor:
    """rows: [W, C] ids; table [characters, E]; weights [width, E, count] each; biases [count] each -> [W, F].

    Words end with ids `padding_id`. The result is the maximum plus bias, before any activation.
    """
    with torch.autocast(rows.device.type, enabled=False):
        if table.dtype != torch.float64 and triton_runs_on(rows.device):
            from elmo.ops.charconv.cuda import char_convolution_cuda

            return char_convolution_cuda(rows, table, weights, biases, padding_id=padding_id)
        return char_convolution_grouped(rows, table, weights, biases, padding_id=padding_id)


def char_convolution_reference(
    rows: Tensor, table: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]
) -> Tensor:
    """The same over all columns: embed, convolve, take the maximum. [bilm-tf model.py, make_convolutions]"""
    embedded = embedding(rows.long(), table).mT  # [W, E, C]
    pooled = [
        conv1d(embedded, weight.permute(2, 1, 0), bias).amax(dim=-1)
        for weight, bias in zip(weights, biases, strict=True)
    ]
    return torch.cat(pooled, dim=1)
