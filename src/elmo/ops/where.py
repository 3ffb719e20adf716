"""Where to compute, by name and without torch: it takes a second to import, and most machines have no GPU."""

import importlib.util
import os
import re
import sys

from elmo.errors import needing_torch

# What the drivers of NVIDIA (also under WSL) and of AMD leave.
SIGNS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia/version", r"C:\Windows\System32\nvcuda.dll")
CPU = re.compile(r"cpu(:0)?")


def name_of_device(device: object | None) -> str:
    """The device that is asked for, as a name that torch understands; without one the GPU, if there is one.

    A GPU needs torch, and so does telling what is wrong with a name.
    """
    if device is None:
        return "cuda" if gpu_is_usable() else "cpu"
    if CPU.fullmatch(str(device)):
        return "cpu"
    with needing_torch(f"device {str(device)!r}"):
        from elmo.ops.device import choose_device

        return str(choose_device(str(device)))


def gpu_is_usable() -> bool:
    """Whether torch finds a GPU. It is not asked where no driver is."""
    if "torch" not in sys.modules and not (torch_is_installed() and _driver_is_there()):
        return False
    import torch

    return torch.cuda.is_available()


def torch_is_installed() -> bool:
    """Whether it could be imported, which is not done."""
    return "torch" in sys.modules or importlib.util.find_spec("torch") is not None


def _driver_is_there() -> bool:
    return os.environ.get("CUDA_VISIBLE_DEVICES") not in ("", "-1") and any(map(os.path.exists, SIGNS))
