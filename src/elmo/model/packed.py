"""PackedBiLM: a biLM frozen for inference on a CPU, its weights in the order in which the compiled kernels read them.

A copy: what happens to the biLM afterwards does not reach it. Parts without a kernel (word tables, ELMoForManyLangs)
run as they are. Sizes as in `model.bilm`.
"""

import torch
from torch import Tensor

from elmo.model.bilm import BiLM, run_layers
from elmo.model.bilstm import State
from elmo.ops.cpu.kernels import kernels_run
from elmo.ops.cpu.packed_file import PackedFile


def can_pack(bilm: BiLM) -> bool:
    """Whether `PackedBiLM` would gain anything, and the compiled kernels are there."""
    return bilm.lstm.has_kernels and bilm.settled_h.dtype == torch.float32 and kernels_run()


class PackedBiLM:
    """`BiLM` without gradients, in float32 or int8 (weights by column, activations by row, cell states in float32).

    `file`: where the packed weights come from, or go to for the next time.
    """

    def __init__(self, bilm: BiLM, *, int8: bool = False, file: PackedFile | None = None) -> None:
        self.config = bilm.config
        self.tokens = bilm.tokens.packed(int8=int8, file=file)
        self.lstm = bilm.lstm.packed(int8=int8, file=file)
        if file is not None:
            file.keep()

    def __call__(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """As `BiLM.forward`."""
        return run_layers(self.lstm, x, lengths, state, directions=self.config.lstm.directions)
