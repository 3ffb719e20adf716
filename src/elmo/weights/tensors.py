"""The tensors of a `BiLM` by name: their shapes, building a model from them without initializing it, their hash."""

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

from elmo.errors import WeightsError
from elmo.model.bilm import BiLM, BiLMConfig

SETTLED = ("settled_h", "settled_c")  # part of the state dict, computed from the weights


def empty_bilm(config: BiLMConfig) -> BiLM:
    """A model of names and shapes alone, for which nothing is allocated; `fill` gives it its numbers."""
    with torch.device("meta"):
        return BiLM(config)


def tensor_shapes(bilm: BiLM, *, settled: bool = False) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor of a model."""
    state = bilm.state_dict()
    names = [name for name in state if name not in SETTLED] + (list(SETTLED) if settled else [])
    return {name: tuple(state[name].shape) for name in names}


def fill(bilm: BiLM, tensors: Mapping[str, Tensor]) -> BiLM:
    """The empty model, which uses `tensors` as they are from now on. A missing settled state is left at zero."""
    dtype = next(iter(tensors.values())).dtype
    settled = {
        name: torch.zeros(tensor.shape, dtype=dtype)
        for name, tensor in bilm.state_dict().items()
        if name in SETTLED and name not in tensors
    }
    bilm.load_state_dict({**tensors, **settled}, strict=True, assign=True)
    return bilm.eval()


def check_finite(tensors: Mapping[str, Tensor], *, where: str) -> None:
    """Fail on the first tensor with a NaN or an infinity."""
    for name, tensor in tensors.items():
        if not is_finite(tensor):
            raise WeightsError(
                f"{where}: {name}: has NaN or infinite numbers; the file is damaged or training diverged"
            )


def is_finite(tensor: Tensor) -> bool:
    """Whether every number is finite; in one pass, without a temporary."""
    if tensor.numel() == 0:
        return True
    low, high = torch.aminmax(tensor)
    return bool(torch.isfinite(low)) and bool(torch.isfinite(high))


def content_sha256(tensors: Mapping[str, Tensor]) -> str:
    """A hash of names, shapes and numbers (as float32): equal for equal models in any format.

    The settled state is left out, since it follows from the rest, only not to the last bit on every machine.
    """
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name in SETTLED:
            continue
        tensor = tensors[name].detach().cpu().float().contiguous()
        digest.update(f"{name}{list(tensor.shape)}\n".encode())
        digest.update(tensor.numpy().astype("<f4", copy=False).data)
    return digest.hexdigest()
