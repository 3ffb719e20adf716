"""What is computed in, by the name that a user gives: some types are not for every device."""

import logging

from elmo.errors import ConfigError, needing_torch
from elmo.ops.cpu.bfloat16 import cpu_runs_bfloat16
from elmo.ops.cpu.kernels import Products, kernels_multiply_bfloat16

logger = logging.getLogger(__name__)

PRECISIONS = ("float32", "float64", "bfloat16", "float16", "int8")


def choose_dtype(name: str | None, device: str) -> str:
    """The type by name (float32 if None, and around `products_of`); one that gains nothing is replaced, with a word."""
    if name is not None and name not in PRECISIONS:
        raise ConfigError(f"precision is {name!r}; it must be one of {', '.join(PRECISIONS)}")
    if name is None or name == "int8":
        return "float32"
    if device == "cpu" and name == "float16":
        logger.warning("precision float16 is not used on a CPU, where it gains nothing; computing in float32")
        return "float32"
    if products_of(name, device) == "bfloat16":
        return "float32"
    if device == "cpu" and name == "bfloat16":
        with needing_torch("precision bfloat16"):
            import torch  # noqa: F401 - the trial would not say that it is missing
        if not cpu_runs_bfloat16():
            logger.warning("precision bfloat16 failed a trial on this CPU; computing in float32 (int8 is faster)")
            return "float32"
    return name


def products_of(name: str | None, device: str) -> Products:
    """What the kernels of a CPU multiply for a precision; everything between their products is float32."""
    if name == "int8":
        return "int8"
    if name == "bfloat16" and device == "cpu" and kernels_multiply_bfloat16():
        return "bfloat16"
    return "float32"
