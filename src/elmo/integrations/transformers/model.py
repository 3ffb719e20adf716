"""`ElmoModel`: the biLM as a model of transformers. Its tensors have the names of the native format, so does its file.

N texts, T tokens, C ids in a row, L layers with the tokens, D size of a vector.
"""

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from elmo.embed.module import Elmo
from elmo.integrations.transformers.config import ElmoConfig
from elmo.integrations.transformers.rows import RowWords
from elmo.integrations.transformers.tokenizer import ElmoTokenizer
from elmo.model.bilm import BiLM
from elmo.model.mix import ScalarMix
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.published.packaged import DEFAULT
from elmo.weights.transformersfolder import complete_folder, tokenizer_values, transformers_values, write_card

OF_THE_BILM = ("tokens.", "lstm.", "settled_")  # its tensors


class ElmoPreTrainedModel(PreTrainedModel):
    """What the model and its heads share: a biLM that is frozen unless the configuration says otherwise."""

    config: ElmoConfig
    config_class = ElmoConfig
    base_model_prefix = "elmo"
    main_input_name = "input_ids"
    _no_split_modules: list[str] = ["ElmoModel"]  # noqa: RUF012 - transformers' own way

    def _init_weights(self, module: nn.Module) -> None:
        """Fill what the file did not have: heads and mixes, or all of a new model."""
        if isinstance(module, ElmoModel):
            if not any(getattr(parameter, "_is_hf_initialized", False) for parameter in module.parameters()):
                module.initialize()
        elif isinstance(module, ScalarMix):
            nn.init.zeros_(module.weights)
            nn.init.ones_(module.gamma)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    @classmethod
    def from_pretrained(cls, *arguments: Any, **options: Any) -> Any:
        """As transformers' own, which would leave holes in a biLM whatever the memory held, and all of it to learn."""
        loaded, found = super().from_pretrained(*arguments, **{**options, "output_loading_info": True})
        names = [*found["missing_keys"], *(key if isinstance(key, str) else key[0] for key in found["mismatched_keys"])]
        absent = [name for name in sorted(names) if name.removeprefix("elmo.").startswith(OF_THE_BILM)]
        if absent:
            raise ValueError(f"the weights have no {absent[0]} ({len(absent)} tensors of the biLM are missing)")
        loaded._freeze()
        return (loaded, found) if options.get("output_loading_info") else loaded

    def _freeze(self) -> None:
        for name, parameter in self.base_model.named_parameters():
            parameter.requires_grad_(self.config.train_bilm or name.startswith("mix."))


class ElmoModel(ElmoPreTrainedModel):
    """Character ids in, the vectors of `encode` out.

    `last_hidden_state` [N, T, D] is the mean of the layers, the top one, or a learned mix (`config.output`); with
    `output_hidden_states=True` all layers come as `hidden_states`. A text's sentences (`token_type_ids`) are read one
    by one. The vectors of words are remembered while the biLM does not learn.
    """

    settled_h: Tensor
    settled_c: Tensor
    _card: str | None = None  # of the model that it was made from

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        bilm = BiLM(config.bilm)
        self.tokens, self.lstm = bilm.tokens, bilm.lstm
        self.register_buffer("settled_h", bilm.settled_h)
        self.register_buffer("settled_c", bilm.settled_c)
        if config.output == "mix":
            self.mix = ScalarMix(config.bilm.layer_count)
        loaded = LoadedModel(bilm=bilm, tokenizer=Tokenizer.from_dict(config.tokenizer or {}))
        runs = Elmo(loaded, dropout=0.0, state=config.state)
        runs.bilm = bilm  # the very modules of this model, not a copy
        self._runs = [runs]  # in a list, where torch does not look for parameters
        self._words = RowWords(loaded.spell)
        self.post_init()
        self._freeze()

    @classmethod
    def from_elmo(cls, name_or_path: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """A model of this library, by name or path, in whichever format; `options` are `ElmoConfig`'s."""
        read = read_model(DEFAULT if name_or_path is None else str(name_or_path))
        model = cls(ElmoConfig(**{**transformers_values(read), **options}))
        model.load_state_dict(read.bilm.state_dict(), strict=model.config.output != "mix")
        model._card = read.card
        return model.eval()

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the model, its tokenizer and its card into one folder, which transformers and `elmo.load` read."""
        self.save_pretrained(directory)
        ElmoTokenizer(**tokenizer_values(self.config.bilm, self.config.tokenizer or {})).save_pretrained(directory)
        write_card(directory, self._card)

    def save_pretrained(self, save_directory: str | os.PathLike[str], **options: Any) -> None:
        """As transformers' own, and with what makes the folder a model that `elmo.load` reads."""
        super().save_pretrained(save_directory, **options)
        if options.get("is_main_process", True) and not options.get("variant"):
            complete_folder(save_directory, architecture=self.config.architecture, tokenizer=self.config.tokenizer)

    @torch.no_grad()
    def initialize(self) -> None:
        """Fill the biLM with the original's initial distributions, from torch's own random numbers."""
        self._runs[0].bilm.initialize(torch.Generator().manual_seed(int(torch.randint(1 << 31, ()))))

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        **_: Any,
    ) -> BaseModelOutput | tuple[Any, ...]:
        """input_ids: [N, T, C], attention_mask and token_type_ids: [N, T] -> vectors [N, T, D]."""
        layers = self.layers(input_ids, attention_mask, token_type_ids)
        if self.config.output == "mix":
            alive = (input_ids != 0).any(-1) if attention_mask is None else attention_mask.bool()
            last = self.mix(layers, alive)
        else:
            last = layers.mean(0) if self.config.output == "mean" else layers[-1]
        all_layers = self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        output = BaseModelOutput(
            last_hidden_state=last,
            hidden_states=tuple(layers) if all_layers else None,
        )
        return output.to_tuple() if return_dict is False else output

    @torch.compiler.disable  # dictionaries and kernels of our own
    def layers(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """All layers [L, N, T, D], zeros where there is no token."""
        if input_ids.dim() != 3:
            raise ValueError(
                f"input_ids have shape {list(input_ids.shape)}, but rows of characters [texts, tokens, characters] are "
                "wanted; make them with ElmoTokenizer"
            )
        runs = self._runs[0]
        runs.bilm.settled_h, runs.bilm.settled_c = self.settled_h, self.settled_c  # a loader may have replaced them
        alive = (input_ids != 0).any(-1)  # [N, T]
        if attention_mask is not None:
            alive &= attention_mask.bool()
        words = self._words.look_up(input_ids[alive].cpu().numpy().astype(np.int16))
        numbers = torch.zeros_like(alive, dtype=torch.long) if token_type_ids is None else token_type_ids
        layers, inside = runs.layers(_sentences(words, alive, numbers))
        whole = layers.new_zeros(layers.shape[0], *alive.shape, layers.shape[-1])
        # Sentences stand in the order of their texts, so that the tokens of both stand in one order.
        whole[:, alive.to(whole.device)] = layers[:, inside]
        return whole


def _sentences(words: Sequence[str], alive: Tensor, numbers: Tensor) -> list[list[str]]:
    """The words of all texts as sentences: one ends where the text, or the number of the sentence, changes."""
    texts = torch.arange(len(alive), device=alive.device)[:, None].expand_as(alive)
    sentences: list[list[str]] = []
    before = None
    for word, place in zip(words, torch.stack([texts[alive], numbers[alive]], dim=1).tolist(), strict=True):
        if place != before:
            sentences.append([])
            before = place
        sentences[-1].append(word)
    return sentences
