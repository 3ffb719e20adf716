"""Weights that are read only: a module of its own over the same numbers."""

import copy
from typing import TypeVar

from torch import nn

Module = TypeVar("Module", bound=nn.Module)


def frozen_copy(module: Module) -> Module:
    """A copy whose parameters take no gradient and lie in the memory of the given one's.

    It can be moved and cast, as modules are in place, while the given one stays as it is.
    """
    shared = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in module.parameters()}
    return copy.deepcopy(module, shared).eval()
