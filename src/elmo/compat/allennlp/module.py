"""AllenNLP's `Elmo`: the biLM and its scalar mixes for task models.

N sentences, T tokens, C characters in a row, D size of a vector.
"""

import logging
import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from elmo.compat.allennlp.bilm import _ElmoBiLm
from elmo.compat.allennlp.mixing import ScalarMix
from elmo.embed.batches import BOUNDARIES
from elmo.errors import ConfigError, InputError

logger = logging.getLogger(__name__)


class Elmo(nn.Module):
    """Character ids in, `num_output_representations` mixes of the layers out, with AllenNLP's arguments and numbers.

    `scalar_mix_parameters` fixes the weights of every mix (before their softmax) and freezes them. `module` takes the
    place of the biLM; it has `num_layers` and returns `activations` and `mask`. `requires_grad` lets the biLM learn.
    The state after a call is where the next one starts, row by row; `reset_states()` forgets it.

    State dicts that AllenNLP saved load: mixes, and a biLM that was trained with the task.
    """

    def __init__(
        self,
        options_file: str | os.PathLike[str] | None,
        weight_file: str | os.PathLike[str] | None,
        num_output_representations: int,
        requires_grad: bool = False,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        vocab_to_cache: Sequence[str] | None = None,
        keep_sentence_boundaries: bool = False,
        scalar_mix_parameters: Sequence[float] | None = None,
        module: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if num_output_representations < 1:
            raise ConfigError(f"num_output_representations is {num_output_representations}; it must be at least 1")
        if module is not None and (options_file is not None or weight_file is not None):
            raise ConfigError("module takes the place of the biLM; leave options_file and weight_file at None")
        if module is None and weight_file is None:
            raise ConfigError("weight_file is None; give the biLM's files, or a module in its place")
        if module is None:
            assert weight_file is not None
            module = _ElmoBiLm(options_file, weight_file, requires_grad=requires_grad, vocab_to_cache=vocab_to_cache)
        self._elmo_lstm = module
        self._has_cached_vocab = vocab_to_cache is not None
        self._keep_sentence_boundaries = keep_sentence_boundaries
        self._dropout = nn.Dropout(dropout)
        self._mix_count = num_output_representations
        layers = module.num_layers
        assert isinstance(layers, int)
        for k in range(num_output_representations):
            mix = ScalarMix(
                layers,
                do_layer_norm=do_layer_norm,
                initial_scalar_parameters=scalar_mix_parameters,
                trainable=scalar_mix_parameters is None,
            )
            self.add_module(f"scalar_mix_{k}", mix)

    def get_output_dim(self) -> int:
        """Size of a token's vector (D)."""
        size = self._elmo_lstm.get_output_dim()  # type: ignore[operator]
        assert isinstance(size, int)
        return size

    def reset_states(self) -> None:
        """Forget what was read before: the next call starts as the first did."""
        self._elmo_lstm.reset_states()  # type: ignore[operator]

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Any]:
        """Character ids [.., T, C] -> `elmo_representations`, a list of [.., T, D], and `mask` [.., T].

        `word_inputs` [.., T] are ids into `vocab_to_cache`. With kept boundaries T grows by 2.
        """
        if word_inputs is not None and not self._has_cached_vocab:
            logger.warning("word_inputs are given, but there is no vocab_to_cache; they are not used")
            word_inputs = None
        if inputs.dim() < 3:
            raise InputError(f"character ids have shape {list(inputs.shape)}; [.., sentences, tokens, 50] is wanted")
        outer = inputs.shape[:-2]
        words = None if word_inputs is None else word_inputs.flatten(0, -2)
        output = self._elmo_lstm(inputs.flatten(0, -3), words)
        activations, mask = output["activations"], output["mask"].bool()
        inside = mask if self._keep_sentence_boundaries else _without_boundaries(mask)  # [N, T]
        representations = []
        for k in range(self._mix_count):
            # Boundaries are removed behind the mix: a layer norm counts them in. [AllenNLP Elmo.forward]
            mixed = self.get_submodule(f"scalar_mix_{k}")(activations, mask)
            if not self._keep_sentence_boundaries:
                mixed = mixed[:, 1:-1].masked_fill(~inside[:, :, None], 0)
            representations.append(self._dropout(mixed).reshape(*outer, *mixed.shape[1:]))
        return {"elmo_representations": representations, "mask": inside.reshape(*outer, inside.shape[1])}


def _without_boundaries(mask: Tensor) -> Tensor:
    """[N, T + 2] -> [N, T]: each row two shorter."""
    T = mask.shape[1] - BOUNDARIES
    return torch.arange(T, device=mask.device) < (mask.sum(1) - BOUNDARIES)[:, None]
