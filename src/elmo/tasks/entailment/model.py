"""`Esim`: the enhanced sequential inference model of Chen et al. 2017, the paper's baseline for SNLI.

Sizes as in AllenNLP's configuration of it. N pairs, T tokens of a text, H LSTM size, K labels.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.embedding.embedding import Embedded, TaskEmbedding
from elmo.tasks.networks.attention import attend
from elmo.tasks.networks.encoder import Encoder, TextDropout
from elmo.tasks.networks.masking import masked_max, masked_mean
from elmo.tasks.onelabel import OneLabelModel
from elmo.tasks.task import Batch

FEATURES = 4  # of a token: what it says, what it is compared with, their difference and their product
POOLINGS = 2  # maximum and mean


@dataclass(frozen=True, kw_only=True)
class EsimConfig:
    """The size of the network. `dropout`: of tokens (the same numbers of a whole text), and around the classifier."""

    hidden: int = 300
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if self.hidden < 1 or not 0 <= self.dropout < 1:
            raise ConfigError(
                f"the network has hidden {self.hidden} and dropout {self.dropout}; "
                "hidden is at least 1, dropout is below 1"
            )


class Esim(OneLabelModel):
    """Read both texts, align their tokens, compare what is aligned, read the comparisons, pool, and classify.

    Both texts go through the same parts. ELMo for the output stands beside what the first biLSTM says, before the
    tokens are aligned. [Peters et al. 2018, section 5.1]
    """

    can_be_captured = True

    def __init__(self, embedding: TaskEmbedding, config: EsimConfig, *, labels: int) -> None:
        super().__init__()
        H = config.hidden
        self.embedding = embedding
        self.token_dropout = TextDropout(config.dropout)
        self.encoder = Encoder(embedding.input_dim, H)
        self.compare = nn.Linear(FEATURES * (self.encoder.output_dim + embedding.output_dim), H)
        self.composer = Encoder(H, H)
        self.classify = nn.Sequential(
            nn.Dropout(config.dropout),
            nn.Linear(2 * POOLINGS * self.composer.output_dim, H),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(H, labels),
        )
        for layer in (self.compare, *self.classify):
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def scores(self, batch: Batch) -> Tensor:
        """Of each label: [N, K]."""
        premise, hypothesis = (self.embedding(text) for text in batch.texts)
        a, b = self._encode(premise), self._encode(hypothesis)
        likeness = a @ b.transpose(1, 2)  # [N, T of a, T of b]
        pooled = [
            *self._compose(a, attend(likeness, b, hypothesis.mask), premise),
            *self._compose(b, attend(likeness.transpose(1, 2), a, premise.mask), hypothesis),
        ]
        scores: Tensor = self.classify(torch.cat(pooled, dim=1))
        return scores

    def _encode(self, text: Embedded) -> Tensor:
        encoded: Tensor = self.encoder(self.token_dropout(text.input), text.lengths)
        if text.output is None:
            return encoded
        return torch.cat([encoded, self.token_dropout(text.output).to(encoded.dtype)], dim=2)

    def _compose(self, x: Tensor, aligned: Tensor, text: Embedded) -> list[Tensor]:
        """What a text says of the other one: [N, 2H] by mean and by maximum."""
        compared = F.relu(self.compare(torch.cat([x, aligned, x - aligned, x * aligned], dim=2)))
        composed = self.composer(self.token_dropout(compared), text.lengths)
        return [masked_mean(composed, text.mask), masked_max(composed, text.mask)]
