"""`ScalarMix` under AllenNLP's parameter names, so that state dicts saved by it load."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.mix import normalize_over_batch


class ScalarMix(nn.Module):
    """`gamma * sum_k softmax(w)_k tensor_k` over `mixture_size` tensors of one shape.

    With `do_layer_norm` each tensor is first normalized over all its unmasked elements together, which makes a result
    depend on the rest of the batch. `trainable=False` freezes weights and `gamma`.
    """

    def __init__(
        self,
        mixture_size: int,
        do_layer_norm: bool = False,
        initial_scalar_parameters: Sequence[float] | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__()
        initial = [0.0] * mixture_size if initial_scalar_parameters is None else list(initial_scalar_parameters)
        if len(initial) != mixture_size:
            raise ConfigError(
                f"initial_scalar_parameters has {len(initial)} weights, but {mixture_size} tensors are to be mixed"
            )
        self.mixture_size = mixture_size
        self.do_layer_norm = do_layer_norm
        self.scalar_parameters = nn.ParameterList(
            nn.Parameter(torch.tensor([value], dtype=torch.float32), requires_grad=trainable) for value in initial
        )
        self.gamma = nn.Parameter(torch.tensor([1.0]), requires_grad=trainable)

    def forward(self, tensors: Sequence[Tensor], mask: Tensor | None = None) -> Tensor:
        """`tensors`: each [.., D]; `mask` [..] is needed for the layer norm alone. Masked elements are not zeroed."""
        if len(tensors) != self.mixture_size:
            raise ConfigError(f"{len(tensors)} tensors are given, but this mix is made for {self.mixture_size}")
        if self.do_layer_norm:
            if mask is None:
                raise ConfigError("a mix with do_layer_norm needs the mask, but none is given")
            tensors = [_normalize(tensor, mask) for tensor in tensors]
        weights = torch.softmax(torch.cat(list(self.scalar_parameters)), dim=0)
        mixed = torch.stack([weight * tensor for weight, tensor in zip(weights, tensors, strict=True)]).sum(0)
        return self.gamma * mixed


def _normalize(tensor: Tensor, mask: Tensor) -> Tensor:
    flat = tensor.reshape(1, -1, tensor.shape[-1])
    return normalize_over_batch(flat, mask.reshape(1, -1)).reshape(tensor.shape)
