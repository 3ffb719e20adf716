"""Weights in eight bits: for each output channel (or row of a table) whole numbers from -127 to 127 and one scale.

In a file a tensor `name` of type I8 has a tensor `name.scale` in float32 beside it; their product is the weight. What
has one dimension, the settled state and the small table of characters are not worth it and stay as they are. The
projections of LSTMs are float16: everything passes through them, and in eight bits they make most of the error.
"""

from collections.abc import Mapping

import numpy as np

from elmo.weights.guarded.arrayfile import Numbers
from elmo.weights.tensors import SCALE, SETTLED

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


def quantize(tensor: Numbers, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    """Floats as int8 numbers and scales of the given shape. What is not finite leaves scales that are not."""
    inputs = tuple(dim for dim, size in enumerate(shape) if size == 1)
    tensor = tensor.astype(np.float32, copy=False)
    largest = np.abs(tensor).max(axis=inputs, keepdims=True)
    scale = np.where(largest == 0, np.float32(1), largest / np.float32(LEVELS))
    with np.errstate(invalid="ignore"):  # the scales tell
        return np.clip(np.rint(tensor / scale), -LEVELS, LEVELS).astype(np.int8), scale


def dequantize(numbers: Numbers, scale: Numbers) -> Numbers:
    """The weights in float32. The numbers may be mapped from a file."""
    result: Numbers = numbers.astype(np.float32)
    result *= scale
    return result


def quantize_all(tensors: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """All arrays of a model as its file holds them."""
    stored: dict[str, Numbers] = {}
    for name in tensors:
        tensor = tensors[name]
        shape = scale_shape(name, tensor.shape)
        if shape is None:
            stored[name] = tensor
        elif is_half(name) and np.abs(tensor).max() < np.finfo(np.float16).max:
            stored[name] = tensor.astype(np.float16)
        else:
            stored[name], stored[name + SCALE] = quantize(tensor, shape)
    return stored
