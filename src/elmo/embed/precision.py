"""What is computed in, by the name that a user gives: some types are not for every device."""

import logging

import torch

from elmo.errors import ConfigError
from elmo.ops.cpu.bfloat16 import cpu_runs_bfloat16

logger = logging.getLogger(__name__)

DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.float32,  # of everything but the weights
}


def choose_dtype(name: str | None, device: torch.device) -> torch.dtype:
    """The torch type for a precision (float32 if None); one that gains nothing there is replaced, with a word."""
    if name is not None and name not in DTYPES:
        raise ConfigError(f"precision is {name!r}; it must be one of {', '.join(DTYPES)}")
    dtype = DTYPES[name or "float32"]
    if device.type == "cpu" and dtype == torch.float16:
        logger.warning("precision float16 is not used on a CPU, where it gains nothing; computing in float32")
        return torch.float32
    if device.type == "cpu" and dtype == torch.bfloat16 and not cpu_runs_bfloat16():
        logger.warning("precision bfloat16 failed a trial on this CPU; computing in float32 (int8 is faster)")
        return torch.float32
    return dtype
