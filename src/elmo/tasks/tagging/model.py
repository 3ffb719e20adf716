"""`Tagger`: biLSTM and CRF. [Lample et al. 2016; Peters et al. 2018, appendix A.5; AllenNLP ner_elmo.jsonnet]

N sentences, T tokens, K labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.ops.crf import Chain, crf_best_path, crf_loss, crf_loss_unchecked
from elmo.ops.crf.posterior import crf_posterior
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.networks.encoder import Encoder, choose_dropout
from elmo.tasks.task import Batch, Belief, TaskModel, Unwaited

FORBIDDEN = -10_000.0  # its exponential is zero, and yet it can be subtracted


@dataclass(frozen=True, kw_only=True)
class TaggerConfig:
    """The size of a tagger. `variational`: dropout drops the same numbers of every token of a sentence."""

    hidden: int = 200
    layers: int = 2
    dropout: float = 0.5
    variational: bool = False

    def __post_init__(self) -> None:
        if min(self.hidden, self.layers) < 1 or not 0 <= self.dropout < 1:
            raise ConfigError(
                f"the tagger has hidden {self.hidden}, layers {self.layers}, dropout {self.dropout}; "
                "sizes are at least 1, dropout is below 1"
            )


class Tagger(TaskModel):
    """One label a token. `allowed` [K + 1, K + 1] says what may follow what; its last row and column are the edges."""

    can_be_captured = True
    forbidden: Tensor

    def __init__(self, embedding: TaskEmbedding, config: TaggerConfig, *, allowed: Sequence[Sequence[bool]]) -> None:
        super().__init__()
        K = len(allowed) - 1
        self.embedding = embedding
        self.dropout = choose_dropout(config.dropout, variational=config.variational)
        self.rnn = Encoder(
            embedding.input_dim,
            config.hidden,
            layers=config.layers,
            dropout=config.dropout,
            variational=config.variational,
        )
        self.emissions = nn.Linear(self.rnn.output_dim + embedding.output_dim, K)
        self.transitions = nn.Parameter(torch.zeros(K, K))
        self.start = nn.Parameter(torch.zeros(K))
        self.end = nn.Parameter(torch.zeros(K))
        nn.init.xavier_uniform_(self.emissions.weight)
        forbidden = torch.where(torch.tensor(allowed), 0.0, FORBIDDEN)
        self.register_buffer("forbidden", forbidden, persistent=False)

    def loss(self, batch: Batch) -> Tensor:
        """The mean over sentences of -log p(labels)."""
        assert batch.targets is not None
        emissions = self._emissions(batch)
        with torch.autocast(emissions.device.type, enabled=False):
            return crf_loss(emissions, batch.targets, batch.texts[0].device_lengths, self._chain()).mean()

    def loss_without_waiting(self, batch: Batch) -> Unwaited:
        """The same, and whether the CRF lost nothing on its way."""
        assert batch.targets is not None
        emissions = self._emissions(batch)
        with torch.autocast(emissions.device.type, enabled=False):
            losses, sound = crf_loss_unchecked(emissions, batch.targets, batch.texts[0].device_lengths, self._chain())
        return Unwaited(losses.mean(), sound.all())

    def answers(self, batch: Batch) -> list[list[int]]:
        """The best labels of each sentence."""
        lengths = batch.texts[0].device_lengths
        path = crf_best_path(self._emissions(batch), lengths, self._chain()).tolist()
        return [row[:length] for row, length in zip(path, batch.texts[0].host_lengths, strict=True)]

    def beliefs(self, batch: Batch) -> list[Belief]:
        """The best labels of each sentence, with the marginals of the CRF."""
        emissions, lengths, chain = self._emissions(batch), batch.texts[0].device_lengths, self._chain()
        path = crf_best_path(emissions, lengths, chain)
        marginals, after = crf_posterior(emissions, path, lengths, chain)
        found = zip(batch.texts[0].host_lengths, path.tolist(), marginals.tolist(), after.tolist(), strict=True)
        return [Belief(tags[:n], probabilities[:n], conditional[:n]) for n, tags, probabilities, conditional in found]

    def _emissions(self, batch: Batch) -> Tensor:
        embedded = self.embedding(batch.texts[0])
        hidden = self.rnn(self.dropout(embedded.input), embedded.lengths)
        if embedded.output is not None:
            hidden = torch.cat([hidden, embedded.output.to(hidden.dtype)], dim=2)
        hidden = self.dropout(hidden)
        with torch.autocast(hidden.device.type, enabled=False):  # scores of paths are sums of many: no rounding here
            scores: Tensor = self.emissions(hidden.float())  # [N, T, K]
        return scores

    def _chain(self) -> Chain:
        forbidden = self.forbidden
        return Chain(
            self.transitions + forbidden[:-1, :-1], self.start + forbidden[-1, :-1], self.end + forbidden[:-1, -1]
        )
