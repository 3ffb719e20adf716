"""BiLSTM: the stack of projected LSTMs of both directions. It knows vectors and lengths, not words.

Sizes: R directions (1 or 2), L layers, T steps, B rows, D input, H cell, P output.
Inside, every direction has its own reading order: [R, T, B, .], forward from the left, backward from the right.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.ops.cpu.kernels import PackedLSTMP
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.lstmp import LSTMPState, LSTMPWeights, alive_rows, lstmp


class StackConfig(ABC):
    """The configuration of an LSTM stack: what every kind must know of itself."""

    # Whether a state goes from one piece of text to the next. A stack whose layers read both directions at once must
    # have whole sentences: it has no settled state and cannot run without lengths.
    carries_state: ClassVar[bool] = True

    @property
    @abstractmethod
    def output_dim(self) -> int:
        """Size of one direction's output (P)."""

    @property
    @abstractmethod
    def directions(self) -> int:
        """How many directions there are (R)."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Layers that come out."""

    @abstractmethod
    def build(self) -> "Stack":
        """The network, its parameters not initialized."""

    @abstractmethod
    def facts(self) -> dict[str, str | int]:
        """What this kind alone has, to be printed."""


@dataclass(frozen=True, kw_only=True)
class BiLSTMConfig(StackConfig):
    """Sizes and rules of a `BiLSTM`. Without `projection_dim` the cell's output is the layer's output."""

    kind: Literal["independent"] = "independent"
    input_dim: int
    cell_dim: int
    projection_dim: int | None = None
    layers: int = 2
    cell_clip: float | None = None
    projection_clip: float | None = None
    skip_connections: bool = True
    bidirectional: bool = True

    def __post_init__(self) -> None:
        for name in ("input_dim", "cell_dim", "layers", "projection_dim"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"lstm.{name} is {value}; it must be at least 1")
        for name in ("cell_clip", "projection_clip"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"lstm.{name} is {value}; it must be above 0, or null for no clip")

    @property
    def output_dim(self) -> int:
        """Size of one direction's output (P)."""
        return self.projection_dim or self.cell_dim

    @property
    def directions(self) -> int:
        """How many directions there are (R)."""
        return 2 if self.bidirectional else 1

    @property
    def outputs(self) -> int:
        """Layers that come out: all of them."""
        return self.layers

    def build(self) -> "BiLSTM":
        return BiLSTM(self)

    def facts(self) -> dict[str, str | int]:
        return {
            "clips": f"cell {self.cell_clip or 'none'}, projection {self.projection_clip or 'none'}",
            "skip connections": "yes" if self.skip_connections else "no",
        }


class State(NamedTuple):
    """What the whole stack remembers: a value, passed in and handed back."""

    h: Tensor  # [L, R, B, P]
    c: Tensor  # [L, R, B, H]

    def rows(self, rows: Tensor | slice) -> "State":
        """The state of some of the rows."""
        return State(self.h[:, :, rows], self.c[:, :, rows])


class RunsStack(Protocol):
    """What runs a batch in reading order through all layers; `BiLSTM.forward` says what it means."""

    def __call__(self, x: Tensor, state: State, *, lengths: Tensor | None = None) -> tuple[list[Tensor], State]: ...


class Stack(nn.Module, ABC):
    """The contract of the LSTM stacks: vectors to contextual vectors, with the state as an argument and a result."""

    has_kernels: ClassVar[bool] = False  # compiled ones of a CPU, for `packed`

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

    def packed(self, *, int8: bool, file: PackedFile | None = None) -> RunsStack:
        """The same for the compiled CPU kernels; what has no kernel runs as it is."""
        return self


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

    has_kernels: ClassVar[bool] = True

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

    def packed(self, *, int8: bool, file: PackedFile | None = None) -> "PackedBiLSTM":
        return PackedBiLSTM(self, int8=int8, file=file)

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
