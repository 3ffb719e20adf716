"""Which device to compute on, in which precision, with how much memory, and the way there."""

import contextlib
import os
import re
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

import elmo.ops.forks  # noqa: F401 - whoever computes with torch may fork
from elmo.errors import ConfigError

TrainingPrecision = Literal["auto", "float32", "bfloat16"]
FORMER_PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}  # in files written before 0.1


def choose_device(device: str | torch.device | None) -> torch.device:
    """The named device, or the GPU where there is one."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        chosen = torch.device("meta")
    if chosen.type not in ("cpu", "cuda") or (chosen.type == "cpu" and chosen.index):
        raise ConfigError(f"device is {str(device)!r}; it must be 'cpu', 'cuda' or 'cuda:N'")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device is {str(device)!r}, but this machine or this torch has no CUDA; use 'cpu'")
    return chosen


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device. A plain copy to a GPU waits until everything before it is done; this one does not."""
    if device.type != "cuda" or tensor.is_cuda:
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def uses_bf16(precision: str, device: torch.device, *, option: str) -> bool:
    """Whether a step computes in bf16 (its weights stay fp32): "float32", "bfloat16", or "auto" where it can."""
    if precision == "bfloat16" and device.type != "cuda":
        raise ConfigError(f"{option} is 'bfloat16', which wants CUDA, but the device is {device.type!r}; use 'float32'")
    if precision == "auto":
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return precision == "bfloat16"


def free_memory(device: torch.device) -> int | None:
    """Bytes that are free on a GPU, or free in the machine; where only its whole memory is known, that; else None."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    with contextlib.suppress(OSError, AttributeError):
        available = re.search(r"^MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE)
        if available is not None:
            return 1024 * int(available[1])
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
