"""Which device to compute on."""

import torch

from elmo.errors import ConfigError


def choose_device(device: str | torch.device | None) -> torch.device:
    """The named device, or the GPU where there is one."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise ConfigError(f"device is {str(device)!r}; it must be 'cpu', 'cuda' or 'cuda:N'") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device is {str(device)!r}, but this machine or this torch has no CUDA; use 'cpu'")
    return chosen
