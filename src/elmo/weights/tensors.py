"""The weights of a biLM as arrays by name: their shapes, whether they are finite, their hash."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from elmo.errors import WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.kinds import Shape
from elmo.ops.arrays import Array, host
from elmo.weights.guarded.arrayfile import Numbers

INFINITE = 0x7F80  # the exponent of what is not finite, in bfloat16
SCALE = ".scale"  # of what is in eight bits, beside it
SETTLED = ("settled_h", "settled_c")  # beside the weights, computed from them


def tensor_shapes(config: BiLMConfig, *, settled: bool = False) -> dict[str, Shape]:
    """Name and shape of each array of a model."""
    return config.shapes() | (dict(zip(SETTLED, config.state_shapes, strict=True)) if settled else {})


def check_finite(tensors: Mapping[str, Numbers], *, where: str) -> None:
    """Fail on the first array with a NaN or an infinity."""
    for name in tensors:
        if not is_finite(tensors[name]):
            own = name.removesuffix(SCALE)
            raise WeightsError(f"{where}: {own}: has NaN or infinite numbers; the file is damaged or training diverged")


def is_finite(numbers: Numbers) -> bool:
    """Whether every number is finite; without a temporary."""
    if numbers.dtype == np.uint16:  # bfloat16
        return not ((numbers & INFINITE) == INFINITE).any()
    if numbers.size == 0 or not np.issubdtype(numbers.dtype, np.floating):
        return True
    return math.isfinite(numbers.min()) and math.isfinite(numbers.max())


def content_sha256(tensors: Mapping[str, Array]) -> str:
    """A hash of names, shapes and numbers (as float32): equal for equal models in any format.

    The settled state is left out, since it follows from the rest, only not to the last bit on every machine.
    """
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name in SETTLED:
            continue
        numbers: Any = np.ascontiguousarray(host(tensors[name]), dtype="<f4")
        digest.update(f"{name}{list(numbers.shape)}\n".encode())
        digest.update(numbers.data)
    return digest.hexdigest()
