"""`BiLMConfig`: the architecture of a biLM, whatever computes it. No torch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from elmo.errors import ConfigError
from elmo.model.characters import CharCNNConfig
from elmo.model.dictionaries import ManyLangsConfig
from elmo.model.fields import read_fields
from elmo.model.kinds import Shape
from elmo.model.stacks import BiLSTMConfig, JointLSTMConfig
from elmo.model.words import WordTableConfig


@dataclass(frozen=True, kw_only=True)
class BiLMConfig:
    """The architecture of a `BiLM`. The two unions are the only list of kinds; each knows the rest of itself."""

    tokens: CharCNNConfig | WordTableConfig | ManyLangsConfig
    lstm: BiLSTMConfig | JointLSTMConfig

    def __post_init__(self) -> None:
        if self.tokens.output_dim != self.lstm.input_dim:
            raise ConfigError(
                f"tokens.output_dim is {self.tokens.output_dim} and lstm.input_dim {self.lstm.input_dim}; "
                "the LSTM reads token vectors, so they must be equal"
            )
        if self.tokens.output_dim != self.lstm.output_dim:
            raise ConfigError(
                f"tokens.output_dim is {self.tokens.output_dim} and the LSTM's output {self.lstm.output_dim}; layer 0 "
                "is the token vector, and all layers must have one size to be mixed"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "config") -> "BiLMConfig":
        """From a mapping as in config.json; anything unknown or wrong fails with its place."""
        return read_fields(cls, values, where=where)

    def to_dict(self) -> dict[str, Any]:
        """A mapping that `from_dict` reads back."""
        return asdict(self)

    @property
    def output_dim(self) -> int:
        """Size of a token's vector in any layer: all directions side by side."""
        return self.lstm.directions * self.lstm.output_dim

    @property
    def layer_count(self) -> int:
        """Layers that come out: the token layer and each LSTM layer."""
        return self.lstm.outputs + 1

    @property
    def state_shapes(self) -> tuple[Shape, Shape]:
        """Of the settled state: [L, R, P] and [L, R, H]."""
        stack = (self.lstm.layers, self.lstm.directions)
        return (*stack, self.lstm.output_dim), (*stack, self.lstm.cell_dim)

    def shapes(self) -> dict[str, Shape]:
        """The shape of each weight by its name in files and in `BiLM`."""
        parts = {"tokens": self.tokens, "lstm": self.lstm}
        return {f"{part}.{name}": shape for part, config in parts.items() for name, shape in config.shapes().items()}
