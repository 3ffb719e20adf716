"""The fastest way to run a biLM whose weights do not change: one choice for `Embedder` and `Elmo`."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from elmo.embed.contextualize import Forward, Runner
from elmo.model.architecture import BiLMConfig
from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.arrays import Array, placed
from elmo.ops.cpu.kernels import Products, kernels_run
from elmo.ops.cpu.making import Making
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.where import torch_is_installed
from elmo.weights.arrays import BiLMArrays
from elmo.weights.guarded.arrayfile import Numbers

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM

logger = logging.getLogger(__name__)


class HasWeights(Protocol):
    """A model, or the arrays of one."""

    @property
    def config(self) -> BiLMConfig: ...
    @property
    def tensors(self) -> Mapping[str, Numbers]: ...
    @property
    def bilm(self) -> "BiLM": ...


def choose_runner(
    model: HasWeights, *, device: str, dtype: str, products: Products = "float32", packed: PackedFile | None = None
) -> Runner:
    """What computes a model's vectors: on a CPU arrays and our kernels, elsewhere torch, with weights of its own type.

    Without kernels torch computes on a CPU too, where it is installed: NumPy does the same, slower. `packed` keeps the
    packed weights on disk.
    """
    on_cpu = device == "cpu"
    compiled = on_cpu and dtype == "float32" and kernels_run()
    if products != "float32" and not compiled:
        reason = "needs a C++ compiler (g++)" if on_cpu else "is for a CPU (device='cpu')"
        logger.warning("precision %s %s; computing in %s", products, reason, dtype)
        products = "float32"
    if on_cpu and (dtype == "float64" or compiled or (dtype == "float32" and not torch_is_installed())):
        return PackedBiLM(model.config, model.tensors, Making(dtype=dtype, products=products, file=packed))
    import torch

    from elmo.model.frozen import frozen_copy

    return frozen_copy(model.bilm).to(torch.device(device), getattr(torch, dtype))


def weights_stamp(bilm: "BiLM") -> object:
    """Another one when a weight of torch's network is not the one it was."""
    return [(p.data_ptr(), 0 if p.is_inference() else p._version) for p in bilm.parameters()]


def packed_copy(bilm: "BiLM") -> PackedBiLM | None:
    """torch's network for the kernels of a CPU, where it is in float32 and they are there."""
    if bilm.settled_h.device.type != "cpu" or str(bilm.settled_h.dtype) != "torch.float32" or not kernels_run():
        return None
    arrays = BiLMArrays.of_network(bilm)
    return PackedBiLM(arrays.config, arrays.tensors, Making())


def fastest_forward(runner: Runner, *, start: State | None) -> Forward:
    """Whole batches through the runner: on a GPU as CUDA graphs, if all sentences start from `start` (of one row)."""
    if start is None or isinstance(runner, PackedBiLM):
        return runner
    from elmo.embed.graphs import CapturedBiLM
    from elmo.model.bilm import BiLM

    assert isinstance(runner, BiLM)
    if runner.settled_h.device.type != "cuda" or not runner.config.lstm.carries_state:
        return runner
    return CapturedBiLM(runner, start=start)


@contextlib.contextmanager
def computing(runner: Runner, *, threads: int | None) -> Iterator[None]:
    """For the time of a call: so many threads, and no gradients where torch computes."""
    if isinstance(runner, PackedBiLM):
        from elmo.ops.cpu.threads import CPU_THREADS

        with CPU_THREADS.set_to(threads):
            yield
        return
    import torch

    from elmo.embed.torchthreads import TORCH_THREADS

    limit: Any = contextlib.nullcontext() if threads is None else TORCH_THREADS.set_to(threads)
    with limit, torch.inference_mode():
        yield


def rows_for(runner: Runner, rows: npt.NDArray[np.integer[Any]]) -> Array:
    """Rows of ids where the runner reads them."""
    return rows if isinstance(runner, PackedBiLM) else placed(rows, like=getattr(runner, "settled_h"))  # noqa: B009
