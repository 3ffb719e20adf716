"""What a task model's tokens are made of: `EmbeddingConfig`, the options of the paper's section 3.3 in one value."""

from dataclasses import dataclass, field

from elmo.errors import ConfigError
from elmo.model.mix import LayerNorm
from elmo.tasks.embedding.choices import TaskLayers, Where


@dataclass(frozen=True, kw_only=True)
class ElmoConfig:
    """How ELMo is added to a task model.

    `where`: `[x; ELMo]` at the input of the task's RNN, `[h; ELMo']` at its output with a mix of its own, both, or none
    (the baseline). `layers`: all of them mixed, or the top one. `mix_l2`: the paper's lambda.
    """

    where: Where = "input"
    layers: TaskLayers = "all"
    dropout: float = 0.5
    mix_l2: float = 0.001
    layer_norm: LayerNorm = False
    train_bilm: bool = False

    def __post_init__(self) -> None:
        _check_dropout("elmo.dropout", self.dropout)
        if self.mix_l2 < 0:
            raise ConfigError(f"elmo.mix_l2 is {self.mix_l2}; it must not be negative")

    @property
    def mixes(self) -> int:
        """How many mixes are learned."""
        return {"none": 0, "input": 1, "output": 1, "both": 2}[self.where]


@dataclass(frozen=True, kw_only=True)
class WordsConfig:
    """The static vector of a word: from a file where one is given, learned where not.

    `dim`: the size of learned vectors; a file has its own. `train`: whether vectors from a file learn too. `most`:
    words kept from the file besides those of the training data, most frequent first.
    """

    dim: int = 100
    train: bool = True
    most: int = 400_000

    def __post_init__(self) -> None:
        if self.dim < 1 or self.most < 0:
            raise ConfigError(f"words.dim is {self.dim} and words.most {self.most}; they must be at least 1 and 0")


@dataclass(frozen=True, kw_only=True)
class CharactersConfig:
    """A convolution over the characters of a word, the largest value of each filter. [AllenNLP ner_elmo.jsonnet]"""

    dim: int = 16
    filters: int = 128
    width: int = 3

    def __post_init__(self) -> None:
        if min(self.dim, self.filters, self.width) < 1:
            raise ConfigError(f"characters has dim {self.dim}, filters {self.filters}, width {self.width}; all from 1")


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """A token as a task model sees it: word vector, characters, ELMo; None leaves a part out."""

    elmo: ElmoConfig = field(default_factory=ElmoConfig)
    words: WordsConfig | None = field(default_factory=WordsConfig)
    characters: CharactersConfig | None = field(default_factory=CharactersConfig)

    def __post_init__(self) -> None:
        if self.words is None and self.characters is None and self.elmo.where in ("none", "output"):
            raise ConfigError("nothing is left at the input: keep word vectors, characters, or ELMo at the input")


def _check_dropout(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ConfigError(f"{name} is {value}; it must be 0 or more and below 1")
