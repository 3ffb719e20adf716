"""How near a fast version must come to its float64 reference: norm(difference) / norm(reference), one bound a type."""

import torch
from torch import Tensor

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}


def relative_error(value: Tensor, reference: Tensor) -> float:
    """norm(value - reference) / norm(reference), in float64; 0 where both are zero, never NaN-blind."""
    assert value.shape == reference.shape, f"{tuple(value.shape)} against {tuple(reference.shape)}"
    value, reference = value.detach().cpu().double(), reference.detach().cpu().double()
    difference, scale = torch.linalg.vector_norm(value - reference), torch.linalg.vector_norm(reference)
    if difference == 0:
        return 0.0
    return float(difference / scale)


def assert_near(value: Tensor, reference: Tensor, *, dtype: torch.dtype, name: str) -> None:
    """Fail, with the name and the error, where `value` is not as near as `dtype` asks for (or is not a number)."""
    error = relative_error(value, reference)
    assert error < TOLERANCE[dtype], f"{name}: relative error {error:.2e}, allowed {TOLERANCE[dtype]:.0e}"
