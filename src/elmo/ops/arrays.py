"""The few functions that NumPy and torch spell differently, for code that serves both. Imports torch for tensors alone.

On a CPU the biLM computes on NumPy's arrays (`ops/cpu`), on a GPU on torch's tensors. What stands between words and
vectors slices, indexes and assigns, which both write alike; the rest is here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = Any  # an array of NumPy's, or a tensor of torch's


def host(values: Array) -> npt.NDArray[Any]:
    """The numbers as an array: in the same memory, if that is the host's. bfloat16, which NumPy lacks, is widened."""
    if isinstance(values, np.ndarray):
        return values
    values = values.detach().cpu()
    array: npt.NDArray[Any] = (values if _is_known(values.dtype) else values.float()).numpy()
    return array


def _is_known(dtype: Any) -> bool:
    return str(dtype) != "torch.bfloat16"


def zeros(*shape: int, like: Array) -> Array:
    """Zeros of the type and on the device of `like`."""
    return np.zeros(shape, like.dtype) if isinstance(like, np.ndarray) else like.new_zeros(*shape)


def empty(*shape: int, like: Array) -> Array:
    """Memory of the type and on the device of `like`, not set."""
    return np.empty(shape, like.dtype) if isinstance(like, np.ndarray) else like.new_empty(*shape)


def concatenate(parts: Sequence[Array], axis: int = 0) -> Array:
    """One behind the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts, axis)
    import torch

    return torch.cat(list(parts), axis)


def stack(parts: Sequence[Array]) -> Array:
    """Side by side in a new first dimension."""
    if isinstance(parts[0], np.ndarray):
        return np.stack(parts)
    import torch

    return torch.stack(list(parts))


def placed(index: npt.NDArray[Any], *, like: Array) -> Array:
    """An array of the host where `like` is, for indexing it."""
    if isinstance(like, np.ndarray):
        return index
    import torch

    from elmo.ops.device import to_device

    return to_device(torch.from_numpy(index), like.device)


def cast(values: Array, *, like: Array) -> Array:
    """In the type of `like`."""
    return values.astype(like.dtype, copy=False) if isinstance(values, np.ndarray) else values.to(like.dtype)


def repeated(values: Array, count: int) -> Array:
    """[.., 1, D] as [.., count, D], without a copy."""
    shape = (*values.shape[:-2], count, values.shape[-1])
    return np.broadcast_to(values, shape) if isinstance(values, np.ndarray) else values.expand(shape)


def reversed_steps(values: Array) -> Array:
    """With the second dimension reversed."""
    return values[:, ::-1] if isinstance(values, np.ndarray) else values.flip(1)
