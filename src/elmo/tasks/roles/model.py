"""`RoleLabeller`: a biLSTM with highways over the words and a mark on the predicate. [He et al. 2017, 2018]

Beside it a small tagger finds the predicates of sentences that come without. It reads the same vectors and does not
change them, so that the roles are what they would be without it.

N sentences, T tokens, M predicates in all of them, R roles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.embedding.embedding import Embedded, TaskEmbedding
from elmo.tasks.networks.encoder import Encoder, choose_dropout
from elmo.tasks.networks.padded import Padded
from elmo.tasks.roles.bio import OUTSIDE, bio_best_path, span_probabilities
from elmo.tasks.task import Batch, TaskModel, Unwaited

# Targets of the tagger that finds predicates.
ORDINARY, IS_PREDICATE, NOT_COUNTED = 0, 1, 2
MOST_POSITIONS = 16384  # tokens of one run through the layers for answers: a sentence is read once for each predicate
UNLIKELY = -10_000.0


@dataclass(frozen=True, kw_only=True)
class RolesModelConfig:
    """The sizes. `embedding_dropout` acts on the vectors of words, `dropout` between and behind the layers.

    `variational`: dropout drops the same numbers of every token of a sentence. `mark`: the size of the vector that
    tells the predicate from other tokens. `finder`: units a direction of the tagger that finds predicates.
    """

    hidden: int = 300
    layers: int = 3
    dropout: float = 0.4
    embedding_dropout: float = 0.5
    variational: bool = True
    mark: int = 100
    finder: int = 100

    def __post_init__(self) -> None:
        if min(self.hidden, self.layers, self.mark, self.finder) < 1:
            raise ConfigError(
                f"the model has hidden {self.hidden}, layers {self.layers}, mark {self.mark}, finder {self.finder}; "
                "all are at least 1"
            )
        if not (0 <= self.dropout < 1 and 0 <= self.embedding_dropout < 1):
            raise ConfigError(
                f"dropout is {self.dropout} and embedding_dropout {self.embedding_dropout}; they are from 0, below 1"
            )


class Labelled(NamedTuple):
    """The answer to a sentence: predicates with the labels of its tokens, and the predicates that were found.

    For beliefs also how sure the model is: of each predicate, and of each span in the labels of each.
    """

    places: list[int]
    labels: list[list[int]]
    found: list[int]
    predicate_probabilities: list[float] = []  # noqa: RUF012 - never changed
    span_probabilities: list[list[float]] = []  # noqa: RUF012


class RoleLabeller(TaskModel):
    """Labels of tokens for each predicate: `bio` says what their ids are. `verb`: the role of the predicate itself."""

    can_be_captured = True

    def __init__(self, embedding: TaskEmbedding, config: RolesModelConfig, *, roles: int, verb: int | None) -> None:
        super().__init__()
        self.embedding = embedding
        self.embedding_dropout = choose_dropout(config.embedding_dropout, variational=config.variational)
        self.dropout = choose_dropout(config.dropout, variational=config.variational)
        self.mark = nn.Embedding(2, config.mark)
        self.rnn = Encoder(
            embedding.input_dim + config.mark,
            config.hidden,
            layers=config.layers,
            dropout=config.dropout,
            variational=config.variational,
            highway=True,
        )
        self.labels = nn.Linear(self.rnn.output_dim + embedding.output_dim, 1 + 2 * roles)
        self.finder_rnn = Encoder(embedding.input_dim, config.finder)
        self.finder = nn.Linear(self.finder_rnn.output_dim, 1)
        nn.init.xavier_uniform_(self.labels.weight)
        # Nothing but the predicate's own role may stand on the predicate: no other one has to be ruled out there later.
        only_verb = torch.zeros(1 + 2 * roles)
        if verb is not None:
            only_verb[:] = UNLIKELY
            only_verb[[1 + verb, 1 + roles + verb]] = 0.0
        self.register_buffer("only_verb", only_verb, persistent=False)
        self.only_verb: Tensor

    def loss(self, batch: Batch) -> Tensor:
        """The cross entropies of the labels, summed over a sentence and averaged over predicates, and the finder's."""
        assert batch.targets is not None
        embedded = self.embedding(batch.texts[0])
        targets = _targets_of_tokens(batch.targets, embedded)
        rows, places = _given_predicates(batch)
        loss = self._finder_loss(embedded, targets[:, :, 0])
        if len(rows):
            chosen = _of_rows(embedded, rows)
            scores = self._scores(chosen, places)  # [M, T, 1 + 2R]
            alive = chosen.mask
            loss = loss + F.cross_entropy(scores[alive], targets[rows, :, 1][alive], reduction="sum") / len(rows)
        return loss

    def loss_without_waiting(self, batch: Batch) -> Unwaited:
        """The same where an example has one predicate at most, as in training: a row without one is not counted."""
        assert batch.targets is not None
        embedded = self.embedding(batch.texts[0])
        targets = _targets_of_tokens(batch.targets, embedded)
        places = batch.given[:, 1] - 1  # [N]
        has_one = places >= 0
        losses = F.cross_entropy(self._scores(embedded, places).transpose(1, 2), targets[:, :, 1], reduction="none")
        alive = embedded.mask & has_one[:, None]
        of_labels = (losses * alive).sum() / has_one.sum().clamp(min=1)
        return Unwaited(self._finder_loss(embedded, targets[:, :, 0]) + of_labels)

    def answers(self, batch: Batch) -> list[Labelled]:
        """The predicates of each sentence, given or found, and the best labels for each."""
        return self._answers(batch, believe=False)

    def beliefs(self, batch: Batch) -> list[Labelled]:
        """The same with probabilities."""
        return self._answers(batch, believe=True)

    @torch.no_grad()
    def _answers(self, batch: Batch, *, believe: bool) -> list[Labelled]:
        embedded = self.embedding(batch.texts[0])
        chances = self._finder_scores(embedded).float().sigmoid()  # [N, T]
        found = ((chances > 0.5) & embedded.mask).tolist()
        probabilities = chances.tolist()
        places_of: list[list[int]] = []
        answers: list[Labelled] = []
        for given, is_found, sure in zip(batch.given.tolist(), found, probabilities, strict=True):
            own = [place for place, is_one in enumerate(is_found) if is_one]
            places = [place - 1 for place in given[1:] if place] if given and given[0] else own
            places_of.append(places)
            answers.append(Labelled(places, [], own, [sure[n] for n in places], []))
        rows = [n for n, places in enumerate(places_of) for _ in places]
        flat = [place for places in places_of for place in places]
        most = max(1, MOST_POSITIONS // max(1, embedded.mask.shape[1]))
        device = embedded.mask.device
        for first in range(0, len(rows), most):
            some = slice(first, first + most)
            index, places_there = (torch.tensor(x[some], device=device) for x in (rows, flat))
            chosen = _of_rows(embedded, index)
            scores = self._scores(chosen, places_there)
            scores[torch.arange(len(index), device=device), places_there] += self.only_verb
            lengths = torch.tensor(batch.texts[0].host_lengths)[rows[some]]
            for n, (row, ids) in enumerate(zip(rows[some], bio_best_path(scores, lengths).tolist(), strict=True)):
                length = int(lengths[n])
                answers[row].labels.append(ids[:length])
                if believe:
                    answers[row].span_probabilities.append(span_probabilities(scores[n, :length].cpu(), ids[:length]))
        return answers

    def _scores(self, embedded: Embedded, places: Tensor) -> Tensor:
        """Scores of the labels for predicates [M] by their places, each in a sentence of its own: [M, T, 1 + 2R]."""
        T = embedded.mask.shape[1]
        is_predicate = torch.arange(T, device=places.device) == places[:, None]  # [M, T]
        x = torch.cat([self.embedding_dropout(embedded.input), self.mark(is_predicate.long())], dim=2)
        hidden = self.rnn(x, embedded.lengths)
        hidden = self.dropout(hidden)
        if embedded.output is not None:
            hidden = torch.cat([hidden, self.embedding_dropout(embedded.output.to(hidden.dtype))], dim=2)
        with torch.autocast(hidden.device.type, enabled=False):  # sums of many in the best path: no rounding here
            scores: Tensor = self.labels(hidden.float())
        return scores

    def _finder_scores(self, embedded: Embedded) -> Tensor:
        x = self.embedding_dropout(embedded.input.detach())
        scores: Tensor = self.finder(self.finder_rnn(x, embedded.lengths))[:, :, 0]  # [N, T]
        return scores

    def _finder_loss(self, embedded: Embedded, targets: Tensor) -> Tensor:
        counted = embedded.mask & (targets != NOT_COUNTED)
        wanted = (targets == IS_PREDICATE).float()
        losses = F.binary_cross_entropy_with_logits(self._finder_scores(embedded).float(), wanted, reduction="none")
        return (losses * counted).sum() / len(targets)


def _of_rows(embedded: Embedded, rows: Tensor) -> Embedded:
    """Some sentences, each as often as it is named."""
    lengths = embedded.lengths
    return Embedded(
        embedded.input[rows],
        None if embedded.output is None else embedded.output[rows],
        embedded.mask[rows],
        Padded(embedded.mask[rows]) if isinstance(lengths, Padded) else lengths[rows.cpu()],
    )


def _targets_of_tokens(targets: Tensor, embedded: Embedded) -> Tensor:
    """For each token the finder's target and the label: [N, T, 2]."""
    N, T = embedded.mask.shape
    return targets.view(N, -1, 2)[:, :T]


def finder_targets(length: int, predicates: Sequence[int], *, counted: bool) -> list[int]:
    """What the tagger that finds predicates learns of a sentence: nothing where it has learned from it already."""
    if not counted:
        return [NOT_COUNTED] * length
    targets = [ORDINARY] * length
    for place in predicates:
        targets[place] = IS_PREDICATE
    return targets


def no_labels(length: int) -> list[int]:
    """Labels of a sentence without a predicate, which are not learned."""
    return [OUTSIDE] * length


def _given_predicates(batch: Batch) -> tuple[Tensor, Tensor]:
    """The predicates of a batch: of which sentence they are, and which of its tokens."""
    places = batch.given[:, 1:]
    rows, columns = places.nonzero(as_tuple=True)
    return rows, places[rows, columns] - 1
