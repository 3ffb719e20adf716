"""A highway layer: the one function that everything else calls. `highway_reference` says what it means.

W words, F size.
"""

import torch
from torch import Tensor

from elmo.ops.gpu.triton_support import triton_runs_on


def highway(
    x: Tensor, weight_carry: Tensor, bias_carry: Tensor, weight_transform: Tensor, bias_transform: Tensor
) -> Tensor:
    """x: [W, F], weights [F, F] (in, out), biases [F] -> [W, F]."""
    if torch.is_autocast_enabled(x.device.type):
        x = x.to(torch.get_autocast_dtype(x.device.type))
    with torch.autocast(x.device.type, enabled=False):
        if x.dtype != torch.float64 and len(x) and triton_runs_on(x.device):
            from elmo.ops.highway.cuda import highway_cuda

            return highway_cuda(x, weight_carry, bias_carry, weight_transform, bias_transform)
        narrow = x.dtype
        return highway_reference(
            x, weight_carry.to(narrow), bias_carry.to(narrow), weight_transform.to(narrow), bias_transform.to(narrow)
        )


def highway_reference(
    x: Tensor, weight_carry: Tensor, bias_carry: Tensor, weight_transform: Tensor, bias_transform: Tensor
) -> Tensor:
    """`carry * relu(x @ transform) + (1 - carry) * x`, with bilm-tf's sense of the carry gate.

    Always relu, whatever the convolutions use. [bilm-tf model.py, high()]
    """
    carry = torch.sigmoid(torch.addmm(bias_carry, x, weight_carry))  # [W, F]
    transformed = torch.relu(torch.addmm(bias_transform, x, weight_transform))
    return carry * transformed + (1 - carry) * x
