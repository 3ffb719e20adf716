"""`BiattentiveClassifier`: the biattentive classification network of McCann et al. 2017, with one text for both sides.

Sizes as in AllenNLP's configuration of the ELMo paper's model. N texts, T tokens, H LSTM size, K labels.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.networks.masking import lowest
from elmo.tasks.task import Batch, Belief, TaskModel

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


class BiattentiveClassifier(TaskModel):
    """Encode, attend to itself, integrate, pool in four ways, and classify with maxout layers."""

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

    def loss(self, batch: Batch) -> Tensor:
        """Cross entropy."""
        assert batch.targets is not None
        return F.cross_entropy(self._scores(batch).float(), batch.targets[:, 0])

    def answers(self, batch: Batch) -> list[list[int]]:
        """The likeliest label of each text."""
        return [[label] for label in self._scores(batch).argmax(1).tolist()]

    def beliefs(self, batch: Batch) -> list[Belief]:
        """The softmax over the labels."""
        scores = self._scores(batch)
        probabilities = torch.softmax(scores.double(), dim=1).tolist()
        best = scores.argmax(1).tolist()
        return [Belief([n], [row], [row[n]]) for n, row in zip(best, probabilities, strict=True)]

    def _scores(self, batch: Batch) -> Tensor:
        embedded = self.embedding(batch.texts[0])
        mask, lengths = embedded.mask, embedded.lengths
        x = self.encoder_dropout(F.relu(self.reduce(self.embedding_dropout(embedded.input))))  # [N, T, H]
        encoded = self.encoder(x, lengths)  # [N, T, 2H]
        logits = encoded @ encoded.transpose(1, 2)  # [N, T, T]
        attention = torch.softmax(logits.float().masked_fill(~mask[:, None], lowest(torch.empty(0))), dim=2)
        context = attention.to(encoded.dtype) @ encoded
        joined = torch.cat([encoded, encoded - context, encoded * context], dim=2)
        integrated = self.integrator(joined, lengths)
        if embedded.output is not None:
            integrated = torch.cat([integrated, embedded.output.to(integrated.dtype)], dim=2)
        scores: Tensor = self.classify(self.integrator_dropout(self._pool(integrated, mask)))
        return scores  # [N, K]

    def _pool(self, x: Tensor, mask: Tensor) -> Tensor:
        """x: [N, T, D] -> [N, 4 D]."""
        absent = ~mask[:, :, None]
        low = lowest(x)
        weights = self.attend(x).float().masked_fill(absent, lowest(torch.empty(0)))
        weights = torch.softmax(weights, dim=1).to(x.dtype)  # [N, T, 1]
        mean = x.masked_fill(absent, 0.0).sum(1) / mask.sum(1, keepdim=True)
        attended = (weights * x).sum(1)
        return torch.cat(
            [x.masked_fill(absent, low).amax(1), x.masked_fill(absent, -low).amin(1), mean, attended], dim=1
        )


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
