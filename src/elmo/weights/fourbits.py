"""Weights in four bits: groups of neighbouring numbers of a row, whole from -7 to 7, and one float16 scale a group.

Two numbers are packed into a byte, each as itself plus 8: that of an even column in the low half, the next one in the
high half. A table [V, D] is [V, D / 2] bytes and [V, D / G] scales for groups of G; their product is the weight.
"""

import math

import numpy as np

from elmo.errors import WeightsError
from elmo.weights.guarded.arrayfile import Numbers

LEVELS = 7  # both ways; the sixteenth value is not used, so that the range is even
ZERO = 8  # what is added, so that a half byte is never negative
GROUP = 32
# Parts of a group's largest number that may be its range: cutting the largest off makes the steps of the others finer.
RANGES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)


def quantize4(table: Numbers, *, group: int = GROUP) -> tuple[Numbers, Numbers]:
    """A float table [V, D] as packed bytes and scales. Groups are smaller where D is no multiple of them."""
    V, D = table.shape
    if D % 2:
        raise WeightsError(f"a table of {D} columns cannot be stored in four bits; an even number is wanted")
    G = math.gcd(D, group)
    grouped = table.astype(np.float32, copy=False).reshape(V, D // G, G)
    largest = np.abs(grouped).max(axis=2, keepdims=True)  # [V, D / G, 1]
    if not (largest / LEVELS <= np.finfo(np.float16).max).all():
        raise WeightsError("a number is too large for four bits with scales in float16, or not finite; use int8")
    best = np.full_like(largest, np.inf)
    scale = np.zeros_like(largest, dtype=np.float16)
    for part in RANGES:
        tried = (largest * np.float32(part) / LEVELS).astype(np.float16)
        error = np.square(_rounded(grouped, tried) * tried.astype(np.float32) - grouped).sum(axis=2, keepdims=True)
        better = error < best
        best, scale = np.where(better, error, best), np.where(better, tried, scale)
    numbers = (_rounded(grouped, scale) + ZERO).astype(np.uint8).reshape(V, D)
    return numbers[:, ::2] | numbers[:, 1::2] << 4, scale.reshape(V, D // G)


def dequantize4(packed: Numbers, scale: Numbers) -> Numbers:
    """The table in float32. The bytes may be mapped from a file."""
    V, half = packed.shape
    numbers = np.stack([packed & 0xF, packed >> 4], axis=2).reshape(V, scale.shape[1], -1).astype(np.float32)
    numbers -= ZERO
    numbers *= scale.astype(np.float32)[:, :, None]
    return numbers.reshape(V, 2 * half)


def _rounded(grouped: Numbers, scale: Numbers) -> Numbers:
    """Whole numbers; a group whose scale is 0 has none but zeros."""
    steps = np.where(scale == 0, np.float16(1), scale).astype(np.float32)
    numbers: Numbers = np.clip(np.rint(grouped / steps), -LEVELS, LEVELS) * (scale != 0)
    return numbers
