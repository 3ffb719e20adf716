"""JointLSTM: a bidirectional LSTM whose upper layers read both directions of the layer below. Not a language model.

ELMoForManyLangs has it as encoder "lstm": one output layer, one projection for both directions, no state between
sentences. Sizes as in `model.bilstm`.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from elmo.errors import InputError
from elmo.model.bilstm import Stack, in_reading_order, in_text_order
from elmo.model.stacks import JointLSTMConfig
from elmo.model.state import State
from elmo.ops.device import to_device
from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp


class JointLayer(nn.Module):
    """The weights of one layer, both directions; see `ops.lstmp` for their meaning."""

    def __init__(self, cell_dim: int, *, input_dim: int) -> None:
        super().__init__()
        self.weight_x = nn.Parameter(torch.empty(2, input_dim, 4 * cell_dim))
        self.weight_h = nn.Parameter(torch.empty(2, cell_dim, 4 * cell_dim))
        self.bias = nn.Parameter(torch.empty(2, 4 * cell_dim))


class JointLSTM(Stack):
    """Vectors to the contextual vectors of the top layer, with the signature of `BiLSTM`. The state stays zero."""

    def __init__(self, config: JointLSTMConfig) -> None:
        super().__init__()
        self.config = config
        H = config.cell_dim
        self.layers = nn.ModuleList(
            JointLayer(H, input_dim=config.input_dim if n == 0 else 2 * H) for n in range(config.layers)
        )
        self.weight_projection = nn.Parameter(torch.empty(H, config.projection_dim))
        self.bias_projection = nn.Parameter(torch.empty(config.projection_dim))

    def forward(
        self,
        x: Tensor,
        state: State,
        *,
        lengths: Tensor | None = None,
        dropout: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[list[Tensor], State]:
        """x: [2, T, B, D] in reading order -> one layer [2, T, B, P], and the state as it came."""
        T, B = x.shape[1:3]
        if lengths is None:
            if not torch.equal(x[0], x[1].flip(0)):
                raise InputError(
                    "a sentence is too long for this model, whose layers read both directions at once and so cannot "
                    "read it in pieces; split the sentence"
                )
            lengths = torch.full((B,), T)
        here = to_device(lengths, x.device)
        for layer in self.layers:
            assert isinstance(layer, JointLayer)
            if dropout is not None:
                x = dropout(x)
            none = x.new_zeros(2, B, self.config.cell_dim)
            weights = LSTMPWeights(layer.weight_x, layer.weight_h, layer.bias, None)
            y, _ = lstmp(x, LSTMPState(none, none), weights, lengths=lengths)  # [2, T, B, H]
            x = in_reading_order(torch.cat(in_text_order(y, here), dim=-1), here, directions=2)  # [2, T, B, 2H]
        alive = (torch.arange(T, device=x.device)[:, None] < here)[None, :, :, None]  # [1, T, B, 1]
        return [(y @ self.weight_projection + self.bias_projection) * alive], state

    def zero_state(self, rows: int) -> State:
        """The state of a stack that has read nothing: the only one it ever has."""
        config = self.config
        shape = (config.layers, 2, rows)
        weight = self.weight_projection
        return State(weight.new_zeros(*shape, config.output_dim), weight.new_zeros(*shape, config.cell_dim))

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Uniform over the cell's size, as torch's LSTM. [torch.nn.LSTM]"""
        limit = self.config.cell_dim**-0.5
        for parameter in self.parameters():
            parameter.uniform_(-limit, limit, generator=generator)
