"""AllenNLP's `_ElmoBiLm`: character ids to the activations of every layer, boundaries and carried state included.

N sentences, T tokens, C characters in a row, D size of a token vector.
"""

import logging
import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from elmo.compat.allennlp.characters import ids_of_batch
from elmo.compat.allennlp.files import model_of_files
from elmo.compat.allennlp.statedict import is_allennlps, translated
from elmo.compat.carried import CarriedState
from elmo.compat.inference import Inference
from elmo.compat.rows import character_config, lengths_of
from elmo.compat.rowvectors import RowVectors
from elmo.embed.batches import BOUNDARIES
from elmo.errors import ConfigError, InputError
from elmo.model.bilm import BiLM
from elmo.text.chars import boundary_rows

logger = logging.getLogger(__name__)

UNKNOWN = "@@UNKNOWN@@"  # AllenNLP's vocabulary puts every word it does not have under this one


class _ElmoBiLm(nn.Module):
    """A biLM with its state from call to call. `num_layers` counts the token layer.

    `vocab_to_cache`: words whose vectors are computed once and looked up by the ids in `word_inputs`; the first is
    padding. Words that are not there are computed from their characters, those under `@@UNKNOWN@@` too (AllenNLP gives
    them the vector of that literal).
    """

    def __init__(
        self,
        options_file: str | os.PathLike[str] | None,
        weight_file: str | os.PathLike[str],
        requires_grad: bool = False,
        vocab_to_cache: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.bilm: BiLM = model_of_files(options_file, weight_file).bilm.requires_grad_(requires_grad)
        self.num_layers = self.bilm.config.layer_count
        self._characters = character_config(self.bilm.config).characters
        self._inference = Inference(self.bilm)
        self._row_vectors = RowVectors(self._inference)
        self._elmo_lstm = CarriedState()
        self._word_embedding: nn.Embedding | None = None
        self._unknown: int | None = None
        if vocab_to_cache:
            if requires_grad:
                logger.warning(
                    "vocab_to_cache with requires_grad: cached word vectors learn apart from the character CNN"
                )
            self.create_cached_cnn_embeddings(vocab_to_cache)
        self.register_load_state_dict_pre_hook(_translate)  # type: ignore[no-untyped-call]

    def get_output_dim(self) -> int:
        """Size of a token's vector in any layer."""
        return self.bilm.config.output_dim

    def reset_states(self) -> None:
        """Forget what was read before."""
        self._elmo_lstm.reset_states()

    @torch.no_grad()
    def create_cached_cnn_embeddings(self, tokens: Sequence[str]) -> None:
        """Compute the vectors of `tokens`; from now on ids in `word_inputs` are places in it, 0 being padding."""
        rows = ids_of_batch([tokens], characters=self._characters)[0].to(self._device)  # [V, C]
        vectors = self._inference.tokens(rows)  # [V, D]
        self._word_embedding = nn.Embedding.from_pretrained(vectors, freeze=not self._inference.learns, padding_idx=0)
        self._unknown = list(tokens).index(UNKNOWN) if UNKNOWN in tokens else None

    def forward(self, inputs: Tensor, word_inputs: Tensor | None = None) -> dict[str, Any]:
        """Character ids [N, T, C] -> `activations`, a list of [N, T + 2, 2D], and their `mask` [N, T + 2]."""
        if inputs.dim() != 3 or inputs.shape[2] != self._characters:
            raise InputError(
                f"character ids have shape {list(inputs.shape)}; [sentences, tokens, {self._characters}] is wanted, "
                "as batch_to_ids makes it"
            )
        learns = any(parameter.requires_grad for parameter in self.parameters())
        words = None if word_inputs is None else word_inputs.to(self._device)
        with torch.set_grad_enabled(torch.is_grad_enabled() and learns):
            x, lengths = self._vectors(inputs.to(self._device), words)
            layers, after = self._inference(x, lengths, self._elmo_lstm.start(self.bilm, len(x)))
        self._elmo_lstm.keep(after)
        mask = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        return {"activations": list(layers), "mask": mask}

    def _vectors(self, inputs: Tensor, word_inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Token vectors with boundaries x: [N, T + 2, D], and lengths [N]."""
        words = self._cached(word_inputs)
        spelled = (inputs > 0).any(-1)  # [N, T]
        lengths = lengths_of(spelled if words is None else words > 0) + BOUNDARIES
        rows = self._between_boundaries(inputs, lengths)  # [N, T + 2, C]
        todo = torch.arange(rows.shape[1], device=rows.device) < lengths[:, None]  # [N, T + 2]
        x = self.bilm.settled_h.new_zeros(*rows.shape[:2], self.bilm.config.tokens.output_dim)
        if words is not None:
            assert self._word_embedding is not None
            looked_up = words > 0
            if self._unknown is not None:
                looked_up &= (words != self._unknown) | ~spelled
            inside = torch.zeros_like(todo)
            inside[:, 1:-1] = looked_up
            x[inside] = self._word_embedding(words[looked_up])
            todo &= ~inside
        x[todo] = self._row_vectors(rows[todo])
        return x, lengths

    def _cached(self, word_inputs: Tensor | None) -> Tensor | None:
        """`word_inputs` if the cache has them all; one id outside sends the whole batch to its characters.

        [AllenNLP _ElmoBiLm.forward]
        """
        if self._word_embedding is None or word_inputs is None:
            return None
        outside = (word_inputs < 0) | (word_inputs >= self._word_embedding.num_embeddings)
        return None if bool(outside.any()) else word_inputs

    def _between_boundaries(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        N, T, C = inputs.shape
        begin, end = torch.from_numpy(boundary_rows(characters=C)).to(inputs)
        rows = inputs.new_zeros(N, T + BOUNDARIES, C)
        rows[:, 1:-1] = inputs
        rows[:, 0] = begin
        rows[torch.arange(N, device=rows.device), lengths - 1] = end
        return rows

    @property
    def _device(self) -> torch.device:
        return self.bilm.settled_h.device


def _translate(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Take AllenNLP's names for the weights, where they are there, for ours."""
    assert isinstance(module, _ElmoBiLm)
    if not is_allennlps(state, prefix):
        return
    if module._word_embedding is None and f"{prefix}_word_embedding.weight" in state:
        raise ConfigError("the saved model has cached word vectors; build Elmo with the same vocab_to_cache")
    ours = translated(state, prefix, module.bilm.config)
    for name in ("settled_h", "settled_c"):
        ours[name] = getattr(module.bilm, name)
    state.update({f"{prefix}bilm.{name}": tensor for name, tensor in ours.items()})
