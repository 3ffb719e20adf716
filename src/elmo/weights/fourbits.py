"""Weights in four bits: groups of neighbouring numbers of a row, whole from -7 to 7, and one float16 scale a group.

Two numbers are packed into a byte, each as itself plus 8: that of an even column in the low half, the next one in the
high half. A table [V, D] is [V, D / 2] bytes and [V, D / G] scales for groups of G; their product is the weight.
"""

import math

import torch
from torch import Tensor

from elmo.errors import WeightsError

LEVELS = 7  # both ways; the sixteenth value is not used, so that the range is even
ZERO = 8  # what is added, so that a half byte is never negative
GROUP = 32
# Parts of a group's largest number that may be its range: cutting the largest off makes the steps of the others finer.
RANGES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)


def quantize4(table: Tensor, *, group: int = GROUP) -> tuple[Tensor, Tensor]:
    """A float table [V, D] as packed bytes and scales. Groups are smaller where D is no multiple of them."""
    V, D = table.shape
    if D % 2:
        raise WeightsError(f"a table of {D} columns cannot be stored in four bits; an even number is wanted")
    G = math.gcd(D, group)
    grouped = table.float().view(V, D // G, G)
    largest = grouped.abs().amax(dim=2, keepdim=True)  # [V, D / G, 1]
    if not bool((largest / LEVELS <= torch.finfo(torch.float16).max).all()):
        raise WeightsError("a number is too large for four bits with scales in float16, or not finite; use int8")
    best = torch.full_like(largest, math.inf)
    scale = torch.zeros_like(largest, dtype=torch.float16)
    for part in RANGES:
        tried = (largest * part / LEVELS).half()
        error = (_rounded(grouped, tried) * tried.float() - grouped).square().sum(dim=2, keepdim=True)
        better = error < best
        best, scale = torch.where(better, error, best), torch.where(better, tried, scale)
    numbers = (_rounded(grouped, scale) + ZERO).to(torch.uint8).view(V, D)
    return numbers[:, ::2] | numbers[:, 1::2] << 4, scale.view(V, D // G)


def dequantize4(packed: Tensor, scale: Tensor) -> Tensor:
    """The table in float32. The bytes may be mapped from a file."""
    V, half = packed.shape
    numbers = torch.stack([packed & 0xF, packed >> 4], dim=2).view(V, scale.shape[1], -1)
    return numbers.float().sub_(ZERO).mul_(scale.float()[:, :, None]).view(V, 2 * half)


def _rounded(grouped: Tensor, scale: Tensor) -> Tensor:
    """Whole numbers; a group whose scale is 0 has none but zeros."""
    steps = torch.where(scale == 0, torch.ones_like(scale), scale).float()
    return (grouped / steps).round_().clamp_(-LEVELS, LEVELS) * (scale != 0)
