"""The fastest way to run a biLM whose weights do not change: one choice for `Embedder` and `Elmo`."""

import logging

from elmo.embed.contextualize import Forward
from elmo.embed.graphs import CapturedBiLM
from elmo.model.bilm import BiLM
from elmo.model.bilstm import State
from elmo.model.packed import PackedBiLM, can_pack
from elmo.ops.cpu.packed_file import PackedFile

logger = logging.getLogger(__name__)


def fastest_runner(bilm: BiLM, *, int8: bool = False, packed: PackedFile | None = None) -> BiLM | PackedBiLM:
    """The biLM itself, or its copy for a CPU's kernels where that is faster; `packed` keeps such a copy on disk."""
    if bilm.settled_h.device.type == "cpu" and can_pack(bilm):
        return PackedBiLM(bilm, int8=int8, file=packed)
    if int8:
        logger.warning(
            "precision int8 needs a CPU, a C++ compiler (g++) and a model with its own biLSTM; computing in %s",
            str(bilm.settled_h.dtype).removeprefix("torch."),
        )
    return bilm


def fastest_forward(runner: BiLM | PackedBiLM, *, start: State | None) -> Forward:
    """Whole batches through the runner: on a GPU as CUDA graphs, if all sentences start from `start` (of one row)."""
    if start is None or isinstance(runner, PackedBiLM) or runner.settled_h.device.type != "cuda":
        return runner
    return CapturedBiLM(runner, start=start) if runner.config.lstm.carries_state else runner
