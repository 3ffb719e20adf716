"""`BiattentiveClassifier`: the biattentive classification network of McCann et al. 2017, with one text for both sides.

Sizes as in AllenNLP's configuration of the ELMo paper's model. N texts, T tokens, H LSTM size, K labels.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.networks.attention import attend
from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.networks.masking import lowest, masked_max, masked_mean, masked_softmax
from elmo.tasks.onelabel import OneLabelModel
from elmo.tasks.task import Batch

POOLINGS = 4  # maximum, minimum, mean, attention


@dataclass(frozen=True, kw_only=True)
class BiattentiveConfig:
    """The size of the network, and the dropout of each of its parts."""

    hidden: int = 300
    embedding_dropout: float = 0.5
    encoder_dropout: float = 0.25
    integrator_dropout: float = 0.1
    maxout: tuple[int, ...] = (1200, 600)
    maxout_pool: int = 4
    maxout_dropout: tuple[float, ...] = (0.2, 0.3)

    def __post_init__(self) -> None:
        if min(self.hidden, self.maxout_pool, *self.maxout) < 1:
            raise ConfigError("a size of the classifier is below 1")
        if len(self.maxout) != len(self.maxout_dropout):
            raise ConfigError(
                f"maxout has {len(self.maxout)} sizes and maxout_dropout {len(self.maxout_dropout)}; as many are wanted"
            )


class BiattentiveClassifier(OneLabelModel):
    """Encode, attend to itself, integrate, pool in four ways, and classify with maxout layers."""

    can_be_captured = True

    def __init__(self, embedding: TaskEmbedding, config: BiattentiveConfig, *, labels: int) -> None:
        super().__init__()
        H = config.hidden
        self.embedding = embedding
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.reduce = nn.Linear(embedding.input_dim, H)
        self.encoder_dropout = nn.Dropout(config.encoder_dropout)
        self.encoder = Encoder(H, H)
        self.integrator = Encoder(3 * self.encoder.output_dim, H)
        integrated = self.integrator.output_dim + embedding.output_dim
        self.attend = nn.Linear(integrated, 1)
        self.integrator_dropout = nn.Dropout(config.integrator_dropout)
        layers: list[nn.Module] = []
        size = POOLINGS * integrated
        for output, dropout in zip(config.maxout, config.maxout_dropout, strict=True):
            layers += [Maxout(size, output, pool=config.maxout_pool), nn.Dropout(dropout)]
            size = output
        self.classify = nn.Sequential(*layers, Maxout(size, labels, pool=config.maxout_pool))

    def scores(self, batch: Batch) -> Tensor:
        """Of each label: [N, K]."""
        embedded = self.embedding(batch.texts[0])
        mask, lengths = embedded.mask, embedded.lengths
        x = self.encoder_dropout(F.relu(self.reduce(self.embedding_dropout(embedded.input))))  # [N, T, H]
        encoded = self.encoder(x, lengths)  # [N, T, 2H]
        logits = encoded @ encoded.transpose(1, 2)  # [N, T, T]
        context = attend(logits, encoded, mask)
        joined = torch.cat([encoded, encoded - context, encoded * context], dim=2)
        integrated = self.integrator(joined, lengths)
        if embedded.output is not None:
            integrated = torch.cat([integrated, embedded.output.to(integrated.dtype)], dim=2)
        scores: Tensor = self.classify(self.integrator_dropout(self._pool(integrated, mask)))
        return scores  # [N, K]

    def _pool(self, x: Tensor, mask: Tensor) -> Tensor:
        """x: [N, T, D] -> [N, 4 D]."""
        absent = ~mask[:, :, None]
        weights = masked_softmax(self.attend(x), ~absent, dim=1).to(x.dtype)  # [N, T, 1]
        smallest = x.masked_fill(absent, -lowest(x)).amin(1)
        return torch.cat([masked_max(x, mask), smallest, masked_mean(x, mask), (weights * x).sum(1)], dim=1)


class Maxout(nn.Module):
    """The largest of `pool` linear pieces for each output. [Goodfellow et al. 2013]"""

    def __init__(self, input_dim: int, output_dim: int, *, pool: int) -> None:
        super().__init__()
        self.pool = pool
        self.linear = nn.Linear(input_dim, output_dim * pool)

    def forward(self, x: Tensor) -> Tensor:
        """x: [.., input] -> [.., output]."""
        pieces = self.linear(x).unflatten(-1, (-1, self.pool))
        largest: Tensor = pieces.amax(-1)
        return largest
