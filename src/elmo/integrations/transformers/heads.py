"""Heads: a label for each token, or for each text, from a learned mix of the layers of a frozen biLM."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput, TokenClassifierOutput

from elmo.integrations.transformers.config import ElmoConfig
from elmo.integrations.transformers.model import ElmoModel, ElmoPreTrainedModel
from elmo.model.mix import ScalarMix


class _Head(ElmoPreTrainedModel):
    """The biLM, the mix of its layers (the paper's section 3.2), dropout, and a linear classifier."""

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.elmo = ElmoModel(config)
        self.mix = ScalarMix(config.bilm.layer_count)
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()
        self._freeze()

    def _mixed(self, input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None) -> Any:
        layers = self.elmo.layers(input_ids, attention_mask, token_type_ids)  # [L, N, T, D]
        alive = (input_ids != 0).any(-1) if attention_mask is None else attention_mask.bool()
        return self.mix(layers, alive), layers, alive.to(layers.device)


class ElmoForTokenClassification(_Head):
    """A label for each token; labels of -100 do not count."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        **_: Any,
    ) -> TokenClassifierOutput | tuple[Any, ...]:
        """input_ids: [N, T, C] -> logits [N, T, labels]."""
        mixed, layers, _alive = self._mixed(input_ids, attention_mask, token_type_ids)
        logits = self.classifier(self.dropout(mixed))
        output = TokenClassifierOutput(
            loss=None if labels is None else self.loss_function(logits, labels, self.config),
            logits=logits,
            hidden_states=tuple(layers) if output_hidden_states else None,
        )
        return output.to_tuple() if return_dict is False else output


class ElmoForSequenceClassification(_Head):
    """A label (or a number, or several labels: `config.problem_type`) for each text, from the mean of its tokens."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        **_: Any,
    ) -> SequenceClassifierOutput | tuple[Any, ...]:
        """input_ids: [N, T, C] -> logits [N, labels]."""
        mixed, layers, alive = self._mixed(input_ids, attention_mask, token_type_ids)
        count = alive.sum(-1, keepdim=True).clamp(min=1)
        pooled = torch.einsum("ntd,nt->nd", mixed, alive.to(mixed.dtype)) / count
        logits = self.classifier(self.dropout(pooled))
        output = SequenceClassifierOutput(
            loss=None
            if labels is None
            else self.loss_function(labels=labels, pooled_logits=logits, config=self.config),
            logits=logits,
            hidden_states=tuple(layers) if output_hidden_states else None,
        )
        return output.to_tuple() if return_dict is False else output
