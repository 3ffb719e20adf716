"""The LSTM stacks of both directions: their configurations. No torch.

Sizes: R directions (1 or 2), L layers, T steps, B rows, D input, H cell, P output.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from elmo.errors import ConfigError
from elmo.model.frozenstacks import FrozenBiLSTM, FrozenJointLSTM, FrozenStack, layer_of
from elmo.model.kinds import Shape, Tensors
from elmo.ops.cpu.making import Making

if TYPE_CHECKING:
    from elmo.model.bilstm import BiLSTM, Stack
    from elmo.model.jointlstm import JointLSTM


class StackConfig(ABC):
    """The configuration of an LSTM stack: what every kind must know of itself."""

    # Whether a state goes from one piece of text to the next. A stack whose layers read both directions at once must
    # have whole sentences: it has no settled state and cannot run without lengths.
    carries_state: ClassVar[bool] = True

    layers: int
    cell_dim: int

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
        """The network for training and GPUs, its parameters not initialized. Needs torch."""

    @abstractmethod
    def shapes(self) -> dict[str, Shape]:
        """The shape of each weight by name."""

    @abstractmethod
    def frozen(self, weights: Tensors, making: Making) -> FrozenStack:
        """The network for a CPU, made of its weights."""

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
        from elmo.model.bilstm import BiLSTM

        return BiLSTM(self)

    def shapes(self) -> dict[str, Shape]:
        R, H, P = self.directions, self.cell_dim, self.output_dim
        shapes: dict[str, Shape] = {}
        for n in range(self.layers):
            inputs = self.input_dim if n == 0 else P
            shapes |= {f"layers.{n}.weight_x": (R, inputs, 4 * H), f"layers.{n}.weight_h": (R, P, 4 * H)}
            shapes[f"layers.{n}.bias"] = (R, 4 * H)
            if self.projection_dim is not None:
                shapes[f"layers.{n}.weight_projection"] = (R, H, P)
        return shapes

    def frozen(self, weights: Tensors, making: Making) -> FrozenStack:
        return FrozenBiLSTM(
            [layer_of(weights, n, making) for n in range(self.layers)],
            cell_clip=self.cell_clip,
            projection_clip=self.projection_clip,
            skip_connections=self.skip_connections,
        )

    def facts(self) -> dict[str, str | int]:
        return {
            "clips": f"cell {self.cell_clip or 'none'}, projection {self.projection_clip or 'none'}",
            "skip connections": "yes" if self.skip_connections else "no",
        }


@dataclass(frozen=True, kw_only=True)
class JointLSTMConfig(StackConfig):
    """Sizes of a `JointLSTM`."""

    carries_state: ClassVar[bool] = False

    kind: Literal["joint"] = "joint"
    input_dim: int
    cell_dim: int
    projection_dim: int
    layers: int = 2

    def __post_init__(self) -> None:
        for name in ("input_dim", "cell_dim", "projection_dim", "layers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"lstm.{name} is {getattr(self, name)}; it must be at least 1")

    @property
    def output_dim(self) -> int:
        """Size of one direction's output (P)."""
        return self.projection_dim

    @property
    def directions(self) -> int:
        """How many directions there are (R)."""
        return 2

    @property
    def outputs(self) -> int:
        """Layers that come out: the top one."""
        return 1

    def build(self) -> "JointLSTM":
        from elmo.model.jointlstm import JointLSTM

        return JointLSTM(self)

    def shapes(self) -> dict[str, Shape]:
        H, P = self.cell_dim, self.projection_dim
        shapes: dict[str, Shape] = {"weight_projection": (H, P), "bias_projection": (P,)}
        for n in range(self.layers):
            inputs = self.input_dim if n == 0 else 2 * H
            shapes |= {f"layers.{n}.weight_x": (2, inputs, 4 * H), f"layers.{n}.weight_h": (2, H, 4 * H)}
            shapes[f"layers.{n}.bias"] = (2, 4 * H)
        return shapes

    def frozen(self, weights: Tensors, making: Making) -> FrozenStack:
        return FrozenJointLSTM(
            [layer_of(weights, n, making) for n in range(self.layers)],
            projection=making.numbers(weights["weight_projection"]),
            bias=making.numbers(weights["bias_projection"]),
            cell_dim=self.cell_dim,
        )

    def facts(self) -> dict[str, str | int]:
        return {}
