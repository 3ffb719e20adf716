"""Several processes that train one model together: who this process is, and the few things they say to each other.

Started by `torchrun`; a process by itself is a world of one. Each process reads its own rows of the batch, and
gradients are averaged, so the number of processes changes nothing but the time and the masks that dropout draws. The
first one keeps all files.
"""

import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from elmo.errors import ConfigError
from elmo.ops.device import choose_device

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class World:
    """All processes of a run, seen from one of them."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process keeps the files."""
        return self.rank == 0

    def average_(self, tensor: Tensor) -> Tensor:
        """Replace a tensor by its mean over the processes."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor /= self.size
        return tensor

    def gather_rows(self, tensor: Tensor, *, dim: int) -> Tensor:
        """The rows of all processes in order, on each of them."""
        if self.size == 1:
            return tensor
        parts = [torch.empty_like(tensor) for _ in range(self.size)]
        dist.all_gather(parts, tensor.contiguous())
        return torch.cat(parts, dim)

    def take_from_first_(self, tensors: Iterable[Tensor]) -> None:
        """Overwrite tensors by those of the first process."""
        if self.size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def say(self, value: Value) -> Value:
        """The first process's value, on all of them."""
        if self.size == 1:
            return value
        values = [value]
        dist.broadcast_object_list(values, src=0)
        return values[0]


def started_world() -> World:
    """The world that torchrun started, or a world of one: who this process is. To say something in it, join it."""
    return World(rank=int(os.environ.get("RANK", "0")), size=int(os.environ.get("WORLD_SIZE", "1")))


@contextlib.contextmanager
def join_world(device: str | None = None) -> Iterator[tuple[World, torch.device]]:
    """The world that torchrun started, or a world of one, and this process's device; leaves it at the end."""
    world = started_world()
    if world.size == 1:
        yield World(), choose_device(device)
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    chosen = choose_device(device)
    if chosen.type == "cuda":
        if local >= torch.cuda.device_count():
            raise ConfigError(
                f"process {local} of this machine has no GPU of its own: there are {torch.cuda.device_count()}; "
                "start as many processes as GPUs (`torchrun --nproc-per-node`)"
            )
        chosen = torch.device("cuda", local)
        torch.cuda.set_device(chosen)
    # Imported later (torch._dynamo does it, in the first step), this module would take the group into the defaults of
    # its functions for good: destroyed by name only, the group's threads would run on, and one that frees a tensor
    # while the interpreter ends aborts the process ("terminate called without an active exception").
    importlib.import_module("torch.distributed.nn.functional")
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield world, chosen
        dist.barrier()  # nobody leaves while another still waits for what was said; after an error everybody does
    finally:
        dist.destroy_process_group()
