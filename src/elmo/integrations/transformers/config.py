"""`ElmoConfig`: config.json as transformers reads it. The keys of the native format stay what they are."""

from typing import Any, Literal

from huggingface_hub.dataclasses import strict
from transformers import PreTrainedConfig

from elmo.model.architecture import BiLMConfig
from elmo.pretrain.sizes import model_of_size

OF_THE_FILE = (
    "format",
    "format_version",
    "weights",
    "self_test",
)  # true of one file, so not of what is trained from it


@strict
class ElmoConfig(PreTrainedConfig):
    """What an ELMo is, and what is taken of it.

    `architecture` and `tokenizer`: as in the native config.json. `output`: what `last_hidden_state` is, the "mean" of
    the layers (as `encode` gives it), the "top" one, or a "mix" with weights that learn. `state`: where a sentence
    starts, "settled" or "zero".
    `train_bilm`: whether the biLM learns too. `classifier_dropout`: in front of a head's classifier.
    """

    model_type = "elmo"

    architecture: dict[str, Any] | None = None
    tokenizer: dict[str, Any] | None = None
    output: Literal["mean", "top", "mix"] = "mean"
    state: Literal["settled", "zero"] = "settled"
    train_bilm: bool = False
    classifier_dropout: float = 0.5
    pad_token_id: int | None = 0
    hidden_size: int = 0  # this and the next follow from the architecture; transformers' users look for them
    num_hidden_layers: int = 0

    def __post_init__(self, **kwargs: Any) -> None:
        if self.architecture is None:  # transformers makes one without arguments, to know the defaults
            self.architecture = model_of_size("tiny").to_dict()
        if self.tokenizer is None:
            self.tokenizer = {"rule": "treebank", "language": "en"}
        bilm = self.bilm
        self.hidden_size, self.num_hidden_layers = bilm.output_dim, bilm.layer_count - 1
        super().__post_init__(**{key: value for key, value in kwargs.items() if key not in OF_THE_FILE})

    @property
    def bilm(self) -> BiLMConfig:
        """The architecture as this library knows it."""
        return BiLMConfig.from_dict(self.architecture or {}, where="architecture")
