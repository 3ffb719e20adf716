"""BiLSTM: the stack of projected LSTMs of both directions. It knows vectors and lengths, not words.

Sizes: R directions (1 or 2), L layers, T steps, B rows, D input, H cell, P output.
Inside, every direction has its own reading order: [R, T, B, .], forward from the left, backward from the right.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from elmo.model.stacks import BiLSTMConfig
from elmo.model.state import State
from elmo.ops.lstmp import LSTMPState, LSTMPWeights, lstmp


class Stack(nn.Module, ABC):
    """The contract of the LSTM stacks: vectors to contextual vectors, with the state as an argument and a result."""

    @abstractmethod
    def forward(
        self,
        x: Tensor,
        state: State,
        *,
        lengths: Tensor | None = None,
        dropout: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[list[Tensor], State]:
        """x: [R, T, B, D] in reading order -> the output of each layer [R, T, B, P], and the state after."""

    @abstractmethod
    def zero_state(self, rows: int) -> State:
        """The state of a stack that has read nothing."""

    @abstractmethod
    def initialize(self, generator: torch.Generator) -> None:
        """Fill all parameters with the original's initial distributions."""


class LSTMLayer(nn.Module):
    """The weights of one layer, all directions; see `ops.lstmp` for their meaning."""

    def __init__(self, config: BiLSTMConfig, *, input_dim: int) -> None:
        super().__init__()
        R, H, P = config.directions, config.cell_dim, config.output_dim
        self.weight_x = nn.Parameter(torch.empty(R, input_dim, 4 * H))
        self.weight_h = nn.Parameter(torch.empty(R, P, 4 * H))
        self.bias = nn.Parameter(torch.empty(R, 4 * H))
        self.weight_projection = None if config.projection_dim is None else nn.Parameter(torch.empty(R, H, P))

    @property
    def weights(self) -> LSTMPWeights:
        """The same as the operation takes them."""
        return LSTMPWeights(self.weight_x, self.weight_h, self.bias, self.weight_projection)


class BiLSTM(Stack):
    """Vectors to contextual vectors of every layer, with the state as an argument and a result."""

    layers: nn.ModuleList

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            LSTMLayer(config, input_dim=config.input_dim if n == 0 else config.output_dim) for n in range(config.layers)
        )

    def forward(
        self,
        x: Tensor,
        state: State,
        *,
        lengths: Tensor | None = None,
        dropout: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[list[Tensor], State]:
        """x: [R, T, B, D] in reading order -> the output of each layer [R, T, B, P], and the state after.

        `dropout` acts on the input of each layer, and the skip connection carries what it left. The carried state is
        the output before the skip connection is added. [bilm-tf training.py, _build; tf ResidualWrapper]
        """
        outputs: list[Tensor] = []
        h, c = [], []
        for n, layer in enumerate(self.layers):
            assert isinstance(layer, LSTMLayer)
            if dropout is not None:
                x = dropout(x)
            y, after = lstmp(
                x,
                LSTMPState(state.h[n], state.c[n]),
                layer.weights,
                lengths=lengths,
                cell_clip=self.config.cell_clip,
                projection_clip=self.config.projection_clip,
            )
            h.append(after.h)
            c.append(after.c)
            if self.config.skip_connections and n > 0:
                y = y + x
            outputs.append(y)
            x = y
        return outputs, State(torch.stack(h), torch.stack(c))

    def zero_state(self, rows: int) -> State:
        """The state of a stack that has read nothing."""
        config = self.config
        weight = self.layers[0].weight_x
        assert isinstance(weight, Tensor)
        shape = (config.layers, config.directions, rows)
        return State(weight.new_zeros(*shape, config.output_dim), weight.new_zeros(*shape, config.cell_dim))

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Glorot-uniform weights over TensorFlow's stacked [input; recurrent] kernel, zero biases. [tf.get_variable]"""
        for layer in self.layers:
            assert isinstance(layer, LSTMLayer)
            fan_in = layer.weight_x.shape[1] + layer.weight_h.shape[1]
            limit = (6.0 / (fan_in + layer.bias.shape[1])) ** 0.5
            layer.weight_x.uniform_(-limit, limit, generator=generator)
            layer.weight_h.uniform_(-limit, limit, generator=generator)
            layer.bias.zero_()
            if layer.weight_projection is not None:
                limit = (6.0 / sum(layer.weight_projection.shape[1:])) ** 0.5
                layer.weight_projection.uniform_(-limit, limit, generator=generator)


def in_reading_order(x: Tensor, lengths: Tensor, *, directions: int) -> Tensor:
    """x: [B, T, D] in text order -> [R, T, B, D]: the second direction reads each row from its own end."""
    forward = x.transpose(0, 1)  # [T, B, D]
    if directions == 1:
        return forward.unsqueeze(0)
    index = _reversed_steps(lengths, x.shape[1])  # [T, B]
    backward = forward.gather(0, index[:, :, None].expand_as(forward))
    return torch.stack([forward, backward])


def in_text_order(y: Tensor, lengths: Tensor) -> list[Tensor]:
    """y: [R, T, B, P] in reading order -> each direction [B, T, P] in text order."""
    outputs = [y[0].transpose(0, 1)]
    if len(y) == 2:
        index = _reversed_steps(lengths, y.shape[1])  # [T, B]
        outputs.append(y[1].gather(0, index[:, :, None].expand_as(y[1])).transpose(0, 1))
    return outputs


def _reversed_steps(lengths: Tensor, T: int) -> Tensor:
    """For each step and row, the step it becomes when the first `length` steps are reversed: [T, B]."""
    steps = torch.arange(T, device=lengths.device)[:, None]  # [T, 1]
    return torch.where(steps < lengths, lengths - 1 - steps, steps)
