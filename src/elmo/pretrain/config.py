"""What a training run is told: `TrainConfig`, read from TOML or JSON, and the recipes and sizes that have a name."""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from elmo.disk.guarded.plainfiles import read_json, refusing
from elmo.disk.guarded.tomlfiles import read_toml
from elmo.errors import ConfigError
from elmo.lm.adaptive import AdaptiveConfig
from elmo.lm.head import FullConfig, SampledConfig
from elmo.model.architecture import BiLMConfig
from elmo.model.fields import formerly, read_fields
from elmo.ops.device import FORMER_PRECISIONS, TrainingPrecision
from elmo.pretrain.choices import Size
from elmo.pretrain.data.streams import Order
from elmo.pretrain.sizes import model_of_size
from elmo.pretrain.step.guard import GuardConfig
from elmo.pretrain.step.optimizers import MuonConfig, OptimizerConfig
from elmo.run.schedule import ScheduleConfig

RECIPE_NAMES = ("finetune", "modern", "paper", "softmax")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """A training run. What is None follows from the corpus and the device: see `pretrain.defaults`."""

    # The model: a size by its name, or an architecture spelled out.
    size: Size | None = None
    model: BiLMConfig | None = None
    # A trained model to start from (a name or a path), and a softmax file for one that has none: see `pretrain.start`.
    start_from: str | None = None
    softmax: str | None = None
    # The data. `batch_size` counts the rows of each direction, of all processes together.
    batch_size: int | None = field(default=None, metadata=formerly("batch"))
    window: int = 20
    order: Order = "sentence"
    # Where a row's window begins with a sentence, the chance that its state is set to zero. Without it a model knows no
    # beginning but its own past: it may take hundreds of words to find its feet after any other.
    reset: float = 0.5
    epochs: float | None = None
    steps: int | None = None  # instead of epochs
    # The objective.
    loss: SampledConfig | FullConfig | AdaptiveConfig = field(default_factory=SampledConfig)
    # "window": the mean over positions times T, as the paper's code has it before it clips the gradients.
    loss_sum: Literal["position", "window"] = "position"
    dropout: float = 0.1
    # The update.
    optimizer: OptimizerConfig = field(default_factory=MuonConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    clip: float | None = 0.3  # of the norm of all gradients together
    accumulate: int = 1  # parts in which the rows of a step go through the model, to save memory
    precision: TrainingPrecision = field(default="auto", metadata=formerly(values=FORMER_PRECISIONS))
    guard: GuardConfig = field(default_factory=GuardConfig)
    # Keeping watch.
    log_every: int = 10
    evaluate_every: int | None = None
    evaluate_symbols: int | None = None  # of the held-out split, each time; at the end it is all of it
    patience: int | None = None  # evaluations without a better perplexity before the run ends
    checkpoint_every: int | None = None
    checkpoint_minutes: float | None = 10.0
    keep: int = 2  # newest checkpoints kept, besides the best
    seed: int = 1

    def __post_init__(self) -> None:
        if self.size is not None and self.model is not None:
            raise ConfigError(f"size is {self.size!r} and model is given too; keep one of them")
        if self.softmax is not None and self.start_from is None:
            raise ConfigError(f"softmax is {self.softmax!r}, but there is no start_from, for whose model it would be")
        at_least_one = (
            "batch_size",
            "window",
            "steps",
            "accumulate",
            "log_every",
            "evaluate_every",
            "evaluate_symbols",
        )
        for name in (*at_least_one, "patience", "checkpoint_every", "keep"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}; it must be at least 1")
        for name in ("epochs", "clip", "checkpoint_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} is {value}; it must be above 0")
        if not 0 <= self.reset <= 1:
            raise ConfigError(f"reset is {self.reset}; it must be 0 to 1")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout is {self.dropout}; it must be 0 or more and below 1")
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}; it must not be negative")

    @property
    def architecture(self) -> BiLMConfig:
        """The model, whichever way it was given."""
        return self.model or model_of_size(self.size or "small")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "config") -> "TrainConfig":
        """From a mapping; anything unknown or wrong fails with its place."""
        return read_fields(cls, values, where=where)

    @classmethod
    def read(cls, path: Path) -> "TrainConfig":
        """From a TOML or JSON file."""
        values = read_json(path, refusal=ConfigError) if path.suffix == ".json" else read_toml(path)
        with refusing(path, ConfigError):
            return cls.from_dict(values, where=str(path))

    @classmethod
    def recipe(cls, name: str) -> "TrainConfig":
        """One of the recipes that come with the product; `modern` is the default of `TrainConfig` itself."""
        if name not in RECIPE_NAMES:
            raise ConfigError(f"recipe is {name!r}, but one of {', '.join(RECIPE_NAMES)} is wanted")
        text = resources.files("elmo.pretrain").joinpath(f"recipes/{name}.toml").read_text(encoding="utf-8")
        return cls.from_dict(tomllib.loads(text), where=f"recipe {name}")

    def to_dict(self) -> dict[str, Any]:
        """A mapping that `from_dict` reads back."""
        return asdict(self)

    def replace(self, **changes: Any) -> "TrainConfig":
        """The same with some fields changed; a new `size` takes the place of a `model`, and the other way round."""
        if changes.get("size") is not None:
            changes.setdefault("model", None)
        elif changes.get("model") is not None:
            changes.setdefault("size", None)
        return dataclasses.replace(self, **changes)
