"""Whether Triton kernels can run on a device; where a GPU has to do without them, that is said once."""

import functools
import importlib.util
import logging

import torch

logger = logging.getLogger(__name__)
# bfloat16 matrix units and asynchronous copies came with this compute capability.
LOWEST_CAPABILITY = (8, 0)


@functools.cache
def triton_runs_on(device: torch.device) -> bool:
    """True on a CUDA device that is new enough, with Triton installed. Otherwise plain torch does the same, slower."""
    if device.type != "cuda":
        return False
    capability = torch.cuda.get_device_capability(device)
    name = torch.cuda.get_device_name(device)
    if capability < LOWEST_CAPABILITY:
        logger.warning("%s has compute capability %d.%d; kernels need 8.0, so plain torch is used", name, *capability)
        return False
    if importlib.util.find_spec("triton") is None:
        logger.warning("Triton is not installed, so plain torch is used on %s; `pip install triton` is faster", name)
        return False
    return True
