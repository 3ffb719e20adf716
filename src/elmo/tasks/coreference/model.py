"""`Coreferences`: spans of a document scored as mentions, and the earlier span that each refers to, end to end.

[Lee et al. 2017, 2018; second-order inference left out: Xu and Choi 2020]. Each sentence is read by itself.

N documents of a batch, T tokens, S sentences, K kept spans, A antecedents.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.coreference.antecedents import Antecedents, AntecedentScorer
from elmo.tasks.coreference.chains import Chain, Mention
from elmo.tasks.coreference.spans import KeptSpans, SpanScorer
from elmo.tasks.embedding.embedding import Embedded, TaskEmbedding
from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.networks.masking import lowest
from elmo.tasks.ragged import row_starts
from elmo.tasks.task import Batch, TaskModel


@dataclass(frozen=True, kw_only=True)
class CoreferenceModelConfig:
    """The sizes. `width`: tokens of the widest span. `kept`: spans kept for each token. `antecedents`: how many are
    judged for each span. `units` and `unit_dropout` of the scorers, `feature`: the size of widths, distances, speakers.

    `sentences`: training reads so many consecutive sentences of a longer document, others each time (None: all).
    `embedding_dropout` acts on the vectors of words, `dropout` between and behind the layers of the biLSTM.
    """

    hidden: int = 200
    layers: int = 3
    dropout: float = 0.4
    embedding_dropout: float = 0.5
    width: int = 20
    kept: float = 0.4
    antecedents: int = 50
    units: int = 150
    unit_dropout: float = 0.2
    feature: int = 20
    sentences: int | None = 50

    def __post_init__(self) -> None:
        sizes = ("hidden", "layers", "width", "antecedents", "units", "feature", "sentences")
        for name in sizes:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"task.model.{name} is {value}; it must be at least 1")
        for name in ("dropout", "embedding_dropout", "unit_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"task.model.{name} is {getattr(self, name)}; it is from 0 and below 1")
        if self.kept <= 0:
            raise ConfigError(f"task.model.kept is {self.kept}; it must be above 0")


class FoundChains(NamedTuple):
    """The chains of a document. For beliefs also the probability of a mention to refer to an earlier one of it."""

    chains: list[Chain]
    probabilities: dict[Mention, float]


class _Part(NamedTuple):
    """Consecutive tokens of a document of a batch, and their sentences."""

    row: int
    first: int
    lengths: list[int]  # tokens of each sentence

    @property
    def size(self) -> int:
        return sum(self.lengths)


class Coreferences(TaskModel):
    """Chains of mentions. `singletons`: mentions that nothing refers to are learned and answered too."""

    def __init__(self, embedding: TaskEmbedding, config: CoreferenceModelConfig, *, singletons: bool) -> None:
        super().__init__()
        self.embedding, self.config, self.singletons = embedding, config, singletons
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.rnn = Encoder(
            embedding.input_dim,
            config.hidden,
            layers=config.layers,
            dropout=config.dropout,
            variational=True,
            highway=True,
        )
        states = self.rnn.output_dim + embedding.output_dim
        # Heads are looked for in the words' own vectors, without ELMo. [Lee et al. 2018]
        self.own = embedding.static_dim or embedding.input_dim
        scorers = {"units": config.units, "feature": config.feature, "dropout": config.unit_dropout}
        self.mentions = SpanScorer(states, self.own, width=config.width, **scorers)  # type: ignore[arg-type]
        self.antecedents = AntecedentScorer(self.mentions.dim, most=config.antecedents, **scorers)  # type: ignore[arg-type]

    def loss(self, batch: Batch) -> Tensor:
        """-log of the share of the right antecedents, summed over the kept spans, averaged over documents."""
        assert batch.targets is not None
        embedded = self.embedding(batch.texts[0])
        losses = []
        for row, lengths in enumerate(batch.texts[0].sentence_lengths):
            part = self._window(row, lengths)
            chains = self._chains(batch.targets[row], part)
            # Mentions are kept whatever they score: with few documents, those that are not kept at first would never
            # be learned. How many spans are kept does not change.
            kept, antecedents = self._read(embedded, batch, part, first=chains > 0)
            losses.append(self._loss(kept, antecedents, chains[kept.ends - kept.starts, kept.starts]))
        return torch.stack(losses).mean()

    def answers(self, batch: Batch) -> list[FoundChains]:
        """The chains of each document."""
        return self._answers(batch, believe=False)

    def beliefs(self, batch: Batch) -> list[FoundChains]:
        """The same with probabilities."""
        return self._answers(batch, believe=True)

    @torch.no_grad()
    def _answers(self, batch: Batch, *, believe: bool) -> list[FoundChains]:
        embedded = self.embedding(batch.texts[0])
        found = []
        for row, lengths in enumerate(batch.texts[0].sentence_lengths):
            kept, antecedents = self._read(embedded, batch, _Part(row, 0, lengths))
            found.append(_found(kept, antecedents, singletons=self.singletons, believe=believe))
        return found

    def _window(self, row: int, lengths: list[int]) -> _Part:
        """Some consecutive sentences of a document, for training."""
        most = self.config.sentences
        if most is None or len(lengths) <= most:
            return _Part(row, 0, lengths)
        begin = int(torch.randint(len(lengths) - most + 1, ()))  # the seed of the step is set [learner.py]
        return _Part(row, sum(lengths[:begin]), lengths[begin : begin + most])

    def _read(
        self, embedded: Embedded, batch: Batch, part: _Part, *, first: Tensor | None = None
    ) -> tuple[KeptSpans, Antecedents]:
        """The kept spans of a document, by tokens of the part, and their antecedents. `first`: which are kept first."""
        tokens = slice(part.first, part.first + part.size)
        device = embedded.mask.device
        lengths = torch.tensor(part.lengths)
        sentences = torch.repeat_interleave(torch.arange(len(lengths)), lengths).to(device)  # [T]
        # Sums over many, and scores of millions: in float32, whatever the rest is in.
        with torch.autocast(device.type, enabled=False):
            x = self.embedding_dropout(embedded.input[part.row, tokens].float())
            states = self.dropout(self._states(x, lengths))
            if embedded.output is not None:
                beside = self.embedding_dropout(embedded.output[part.row, tokens].float())
                states = torch.cat([states, beside], dim=1)
            most = math.ceil(self.config.kept * part.size)
            kept = self.mentions(states, x[:, : self.own], sentences, most=most, first=first)
            speakers = batch.given[part.row, tokens]
            speakers = F.pad(speakers, (0, part.size - len(speakers)))[kept.starts]
            return kept, self.antecedents(kept, speakers)

    def _states(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The states of the tokens of a document [T, D], each sentence read by itself."""
        starts = torch.from_numpy(row_starts(lengths.numpy()))
        steps = torch.arange(int(lengths.max()))
        inside = (steps < lengths[:, None]).to(x.device)  # [S, the longest]
        places = (starts[:, None] + steps).clamp(max=len(x) - 1).to(x.device)
        states: Tensor = self.rnn(x[places], lengths)[inside]
        return states

    def _loss(self, kept: KeptSpans, antecedents: Antecedents, chains: Tensor) -> Tensor:
        """`chains` [K]: that of each kept span, 0 for those that are no mention."""
        same = (chains[antecedents.spans] == chains[:, None]) & (chains[:, None] > 0)
        scores = antecedents.scores
        same &= scores[:, 1:] > lowest(scores)
        right = torch.cat([~same.any(1, keepdim=True), same], dim=1)  # none of them: it refers to nothing
        loss = torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~right, lowest(scores)), 1)
        is_mention = (chains > 0).to(kept.scores.dtype)
        loss = loss + F.binary_cross_entropy_with_logits(kept.scores, is_mention, reduction="none")
        return loss.sum()

    def _chains(self, mentions: Tensor, part: _Part) -> Tensor:
        """The chain of each span of a part by width and first token, from 1, 0 for no mention: [W, T].

        `mentions`: first token, last token and chain of each, one behind another, chain 0 past their end.
        """
        triples = mentions[: len(mentions) // 3 * 3].view(-1, 3)
        starts, ends, chains = (triples - triples.new_tensor([part.first, part.first, 0])).unbind(1)
        inside = (chains > 0) & (starts >= 0) & (ends < part.size) & (ends - starts < self.config.width)
        table = chains.new_zeros(self.config.width, part.size)
        table[(ends - starts)[inside], starts[inside]] = chains[inside]
        return table


def _found(kept: KeptSpans, antecedents: Antecedents, *, singletons: bool, believe: bool) -> FoundChains:
    """Each span joins the chain of its best antecedent."""
    best = antecedents.scores.argmax(1)  # 0: none
    refers = (best > 0).tolist()
    chosen = antecedents.spans.gather(1, (best - 1).clamp(min=0)[:, None])[:, 0].tolist() if refers else []
    spans = list(zip(kept.starts.tolist(), (kept.ends + 1).tolist(), strict=True))
    chain_of: dict[int, int] = {}
    chains: list[list[int]] = []
    for n, is_one in enumerate(refers):
        if is_one:
            earlier = chosen[n]
            if earlier not in chain_of:
                chain_of[earlier] = len(chains)
                chains.append([earlier])
            chain_of[n] = chain_of[earlier]
            chains[chain_of[n]].append(n)
    probabilities: dict[Mention, float] = {}
    if believe and chain_of:
        shares = torch.softmax(antecedents.scores, 1)[:, 1:]
        numbers = torch.tensor([chain_of.get(n, -1 - n) for n in range(len(spans))], device=shares.device)
        own = (shares * (numbers[antecedents.spans] == numbers[:, None])).sum(1).tolist()
        probabilities = {spans[n]: own[n] for n, is_one in enumerate(refers) if is_one}
    if singletons:
        mentioned = (kept.scores > 0).tolist()
        chains += [[n] for n in range(len(spans)) if mentioned[n] and n not in chain_of]
    return FoundChains(sorted(tuple(spans[n] for n in chain) for chain in chains), probabilities)
