"""PackedBiLM: a biLM frozen for inference on a CPU, its weights in the order in which the compiled kernels read them.

A copy: what happens to the biLM afterwards does not reach it. Parts without a kernel (word tables, ELMoForManyLangs)
run as they are. Sizes as in `model.bilm`.
"""

import torch
from torch import Tensor

from elmo.model.bilm import BiLM, run_layers
from elmo.model.bilstm import BiLSTM, BiLSTMConfig, LSTMLayer, State
from elmo.model.charcnn import CharCNN, Highway
from elmo.ops.cpu.kernels import PackedCharEncoder, PackedHighway, PackedLSTMP, kernels_run
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.lstmp import LSTMPState, alive_rows
from elmo.text.chars import IN_WORD_PADDING


def can_pack(bilm: BiLM) -> bool:
    """Whether `PackedBiLM` would gain anything, and the compiled kernels are there."""
    return isinstance(bilm.lstm, BiLSTM) and bilm.settled_h.dtype == torch.float32 and kernels_run()


class PackedBiLSTM:
    """`BiLSTM` without gradients and dropout."""

    def __init__(self, lstm: BiLSTM, *, int8: bool, file: PackedFile | None = None) -> None:
        self.config: BiLSTMConfig = lstm.config
        self._layers = []
        for layer in lstm.layers:
            assert isinstance(layer, LSTMLayer)
            self._layers.append(PackedLSTMP(layer.weights, int8=int8, file=file))

    def __call__(self, x: Tensor, state: State, *, lengths: Tensor | None = None) -> tuple[list[Tensor], State]:
        """As `BiLSTM.forward`."""
        T, B = x.shape[1:3]
        alive = alive_rows(lengths, T, B)
        outputs: list[Tensor] = []
        h, c = [], []
        for n, layer in enumerate(self._layers):
            y, after = layer(
                x,
                LSTMPState(state.h[n], state.c[n]),
                alive=alive,
                cell_clip=self.config.cell_clip,
                projection_clip=self.config.projection_clip,
            )
            h.append(after.h)
            c.append(after.c)
            if self.config.skip_connections and n > 0:
                y += x
            outputs.append(y)
            x = y
        return outputs, State(torch.stack(h), torch.stack(c))


class PackedBiLM:
    """`BiLM` without gradients, in float32 or int8 (weights by column, activations by row, cell states in float32).

    `file`: where the packed weights come from, or go to for the next time.
    """

    def __init__(self, bilm: BiLM, *, int8: bool = False, file: PackedFile | None = None) -> None:
        assert isinstance(bilm.lstm, BiLSTM)
        self.config = bilm.config
        tokens = bilm.tokens
        self.tokens = pack_tokens(tokens, int8=int8, file=file) if isinstance(tokens, CharCNN) else tokens
        self.lstm = PackedBiLSTM(bilm.lstm, int8=int8, file=file)
        if file is not None:
            file.keep()

    def __call__(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """As `BiLM.forward`."""
        return run_layers(self.lstm, x, lengths, state, directions=self.config.lstm.directions)


def pack_tokens(tokens: CharCNN, *, int8: bool, file: PackedFile | None = None) -> PackedCharEncoder:
    """`CharCNN.forward` as one kernel."""
    highways = []
    for highway in tokens.highways:
        assert isinstance(highway, Highway)
        weights = (highway.weight_carry, highway.bias_carry, highway.weight_transform, highway.bias_transform)
        highways.append(PackedHighway(*weights, int8=int8, file=file))
    config = tokens.config
    return PackedCharEncoder(
        tokens.characters,
        list(tokens.filters),
        list(tokens.filter_biases),
        characters=config.characters,
        padding_id=IN_WORD_PADDING,
        activation=config.activation,
        highways=highways,
        projection=(tokens.weight_projection, tokens.bias_projection) if config.projected else None,
        int8=int8,
        file=file,
    )
