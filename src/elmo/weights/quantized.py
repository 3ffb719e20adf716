"""Weights in eight bits: for each output channel (or row of a table) whole numbers from -127 to 127 and one scale.

In a file a tensor `name` of type I8 has a tensor `name.scale` in float32 beside it; their product is the weight. What
has one dimension, the settled state and the small table of characters are not worth it and stay as they are. The
projections of LSTMs are float16: everything passes through them, and in eight bits they make most of the error.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from elmo.weights.tensors import SETTLED

SCALE = ".scale"
LEVELS = 127  # both ways; -128 is not used, so that the range is even
TABLES = ("tokens.weight", "tokens.words", "softmax.weight")  # a row is looked up, or gives one output
WHOLE = ("tokens.characters", *SETTLED)


def scale_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of a tensor's scales, as wide as the tensor where there is one for each; None if it stays whole.

    Matrices are stored as [inputs, outputs], those of LSTMs as [directions, inputs, outputs], filters as [width,
    inputs, outputs].
    """
    if len(shape) < 2 or name in WHOLE or name.endswith("bias"):
        return None
    if name in TABLES:
        return (shape[0], *[1] * (len(shape) - 1))
    directions = shape[:-2] if name.startswith("lstm.") else (1,) * (len(shape) - 2)
    return (*directions, 1, shape[-1])


def is_half(name: str) -> bool:
    """Whether a tensor is written in 16 bits instead of eight. (Either is read.)"""
    return name.startswith("lstm.") and name.endswith("weight_projection")


def quantize(tensor: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """A float tensor as int8 numbers and scales of the given shape. What is not finite leaves scales that are not."""
    inputs = [dim for dim, size in enumerate(shape) if size == 1]
    largest = tensor.float().abs().amax(dim=inputs, keepdim=True)
    scale = torch.where(largest == 0, torch.ones_like(largest), largest / LEVELS)
    return (tensor.float() / scale).round_().clamp_(-LEVELS, LEVELS).to(torch.int8), scale


def dequantize(numbers: Tensor, scale: Tensor) -> Tensor:
    """The weights in float32. The numbers may be mapped from a file."""
    return numbers.to(torch.float32).mul_(scale)


def quantize_all(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """All tensors of a model as its file holds them."""
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        shape = scale_shape(name, tuple(tensor.shape))
        if shape is None:
            stored[name] = tensor
        elif is_half(name) and tensor.abs().max() < torch.finfo(torch.float16).max:
            stored[name] = tensor.to(torch.float16)
        else:
            stored[name], stored[name + SCALE] = quantize(tensor, shape)
    return stored
