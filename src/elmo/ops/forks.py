"""A forked process computes with one thread: OpenMP's others stayed in its parent, and waiting for them never ends.

So do the workers of torch's own `DataLoader`. Processes that are spawned have all their threads.
"""

import os

import torch

_FORKED = False


def is_forked() -> bool:
    """Whether this process was forked from one in which this library was in use."""
    return _FORKED


def _compute_alone() -> None:
    global _FORKED
    _FORKED = True
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_compute_alone)
