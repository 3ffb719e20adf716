"""`Bidaf`: bidirectional attention flow with self attention, the paper's baseline for SQuAD. [Clark and Gardner 2017]

As in document-qa's code (docqa/elmo/ablate_elmo_model.py), with LSTMs for its GRUs. N questions, T tokens of the
context, S of the question, H LSTM size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.errors import ConfigError
from elmo.tasks.embedding.embedding import Embedded, TaskEmbedding
from elmo.tasks.networks.attention import TrilinearSimilarity, attend
from elmo.tasks.networks.encoder import Encoder, TextDropout
from elmo.tasks.networks.masking import lowest, masked_softmax
from elmo.tasks.questions.spans import Found, best_spans
from elmo.tasks.task import Batch, TaskModel

MOST_ANSWERS = 20  # told of a question


@dataclass(frozen=True, kw_only=True)
class BidafConfig:
    """The size of the network. `dropout`: of the tokens, the same numbers of a whole text, around every LSTM."""

    hidden: int = 90
    dropout: float = 0.2

    def __post_init__(self) -> None:
        if self.hidden < 1 or not 0 <= self.dropout < 1:
            raise ConfigError(
                f"the network has hidden {self.hidden} and dropout {self.dropout}; "
                "hidden is at least 1, dropout is below 1"
            )


class Bidaf(TaskModel):
    """Read both texts, attend to each other, read again, attend to itself, and say where an answer starts and ends.

    Both texts go through the same embedding and first biLSTM. ELMo for the output stands beside what that says, before
    the attention. [Peters et al. 2018, appendix A.3]
    """

    can_be_captured = True

    def __init__(self, embedding: TaskEmbedding, config: BidafConfig, *, longest: int) -> None:
        super().__init__()
        H = config.hidden
        self.embedding = embedding
        self.longest = longest
        self.dropout = TextDropout(config.dropout)
        self.encoder = Encoder(embedding.input_dim, H)
        encoded = self.encoder.output_dim + embedding.output_dim
        self.similarity = TrilinearSimilarity(encoded)
        self.merge = nn.Linear(4 * encoded, 2 * H)
        self.reader = Encoder(2 * H, H)
        self.self_similarity = TrilinearSimilarity(2 * H)
        self.nothing = nn.Parameter(torch.tensor(-1.0))  # the score of attending to no token
        self.self_merge = nn.Linear(6 * H, 2 * H)
        self.start_reader = Encoder(2 * H, H)
        self.start = nn.Linear(2 * H, 1)
        self.end_reader = Encoder(4 * H, H)
        self.end = nn.Linear(2 * H, 1)
        for layer in (self.merge, self.self_merge, self.start, self.end):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def loss(self, batch: Batch) -> Tensor:
        """Cross entropies of the first and the last token of the answer."""
        assert batch.targets is not None
        starts, ends = self.scores(batch)
        return F.cross_entropy(starts, batch.targets[:, 0]) + F.cross_entropy(ends, batch.targets[:, 1])

    def answers(self, batch: Batch) -> list[Found]:
        """The best piece of each context."""
        return self._find(batch, most=1)

    def beliefs(self, batch: Batch) -> list[Found]:
        """The best pieces."""
        return self._find(batch, most=MOST_ANSWERS)

    def scores(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Of each token of the context as the first and as the last one of the answer: [N, T], lowest where none is."""
        context, question = (self.embedding(text) for text in batch.texts)
        mask, lengths = context.mask, context.lengths
        x, y = self._encode(context), self._encode(question)
        likeness = self.similarity(x, y)  # [N, T, S]
        of_question = attend(likeness, y, question.mask)
        strongest = likeness.masked_fill(~question.mask[:, None], lowest(likeness)).amax(2)  # [N, T]
        of_context = masked_softmax(strongest, mask, dim=1).to(x.dtype)[:, None] @ x  # [N, 1, ..]
        joined = F.relu(self.merge(torch.cat([x, of_question, x * of_question, x * of_context], dim=2)))
        x = joined + self._self_attention(self.reader(self.dropout(joined), lengths), mask)
        x = self.dropout(x)
        before = self.start_reader(x, lengths)
        starts = self.start(self.dropout(before))[:, :, 0]
        behind = self.end_reader(torch.cat([x, self.dropout(before).to(x.dtype)], dim=2), lengths)
        ends = self.end(self.dropout(behind))[:, :, 0]
        return _masked(starts, mask), _masked(ends, mask)

    def _encode(self, text: Embedded) -> Tensor:
        encoded: Tensor = self.dropout(self.encoder(self.dropout(text.input), text.lengths))
        if text.output is None:
            return encoded
        return torch.cat([encoded, text.output.to(encoded.dtype)], dim=2)

    def _self_attention(self, x: Tensor, mask: Tensor) -> Tensor:
        """What other tokens of the context say to each one, which may also attend to none: [N, T, 2H]."""
        x = self.dropout(x)
        scores = self.self_similarity(x, x)  # [N, T, T]
        N, T, _ = scores.shape
        others = mask[:, None] & ~torch.eye(T, dtype=torch.bool, device=mask.device)
        scores = torch.cat([scores, self.nothing.to(scores.dtype).expand(N, T, 1)], dim=2)
        counts = torch.cat([others, others.new_ones(N, T, 1)], dim=2)
        attended = masked_softmax(scores, counts, dim=2)[:, :, :T].to(x.dtype) @ x
        return F.relu(self.self_merge(torch.cat([attended, x, attended * x], dim=2)))

    @torch.no_grad()
    def _find(self, batch: Batch, *, most: int) -> list[Found]:
        starts, ends = self.scores(batch)
        return best_spans(starts, ends, batch.texts[0].mask, batch.given, longest=self.longest, most=most)


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    wide = scores.float()
    return wide.masked_fill(~mask, lowest(wide))
