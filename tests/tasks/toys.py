"""Two tasks that no user has: one of two texts, one of long documents with integers given; all the ground is used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.tasks.details import Details
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.examples import Example, Text
from elmo.tasks.networks.encoder import Encoder
from elmo.tasks.task import Batch, Scores, Task, TaskModel
from elmo.text.tokenizer import Tokenizer


class Toy(Task):
    """What both have: answers are equal or not, and nothing is read from files."""

    metric = "accuracy"

    def read(self, path: str) -> list[Example]:
        raise NotImplementedError(path)

    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        raise NotImplementedError(path, tokenizer)

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        return {"accuracy": 100 * sum(e.answer == a for e, a in zip(examples, answers, strict=True)) / len(examples)}

    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        return (f"{example.place}\t{answer}" for example, answer in zip(examples, answers, strict=True))

    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Any], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        for example, belief in zip(examples, beliefs, strict=True):
            yield {"answer": None if belief is None else self.decode(example, belief, labels)}

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        raise NotImplementedError(examples, answers)


@dataclass(frozen=True, kw_only=True)
class PairConfig:
    """Which of two texts has the word that the label names?"""

    kind: Literal["pair"] = "pair"
    hidden: int = 8

    def make(self) -> "Pair":
        return Pair(self)


class Pair(Toy):
    texts = 2

    def __init__(self, config: PairConfig) -> None:
        self.config = config

    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        return sorted({example.answer for example in examples})

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        return [ids[example.answer]]

    def decode(self, _example: Example, answer: int, labels: Sequence[str]) -> str:
        return labels[answer]

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> TaskModel:
        return PairModel(embedding, self.config.hidden, len(labels))


class PairModel(TaskModel):
    def __init__(self, embedding: TaskEmbedding, hidden: int, labels: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = Encoder(embedding.input_dim, hidden, layers=3, highway=True)
        self.classify = nn.Linear(2 * self.encoder.output_dim, labels)

    def _scores(self, batch: Batch) -> Tensor:
        sides = [self.embedding(text) for text in batch.texts]
        encoded = [self.encoder(side.input, side.lengths).sum(1) for side in sides]
        scores: Tensor = self.classify(torch.cat(encoded, dim=1))
        return scores

    def loss(self, batch: Batch) -> Tensor:
        assert batch.targets is not None
        return F.cross_entropy(self._scores(batch), batch.targets[:, 0])

    def answers(self, batch: Batch) -> list[Any]:
        return self._scores(batch).argmax(1).tolist()

    beliefs = answers


@dataclass(frozen=True, kw_only=True)
class FindConfig:
    """Where in a document is the word that follows the one given by its place? Too long for a model: see `window`."""

    kind: Literal["find"] = "find"
    window: int = 2  # sentences

    def make(self) -> "Find":
        return Find(self)


class Find(Toy):
    """The answer is a token of the document, which the model points at; there are no labels."""

    def __init__(self, config: FindConfig) -> None:
        self.config = config

    def windows(self, example: Example) -> Sequence[Example]:
        text, size = example.texts[0], self.config.window
        starts = (0, *text.ends)
        return [
            Example((text.part(n, n + size),), None, example.place, given=(starts[n], *example.given))
            for n in range(0, len(text.ends), size)
        ]

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        windows = [(example, window) for example in examples for window in self.windows(example)]
        return [Example(w.texts, e.answer, w.place, given=w.given) for e, w in windows if e.answer in w.texts[0].tokens]

    def join(self, _example: Example, windows: Sequence[Example], answers: Sequence[Any]) -> Any:
        best, window = max(zip(answers, windows, strict=True), key=lambda pair: pair[0][1])
        return best[0] + window.given[0], best[1]

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        assert not ids
        return [example.texts[0].tokens.index(example.answer)]

    def decode(self, example: Example, answer: tuple[int, float], labels: Sequence[str]) -> str:
        assert not labels
        return example.tokens[answer[0]]

    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> TaskModel:
        assert not labels
        return FindModel(embedding)


class FindModel(TaskModel):
    def __init__(self, embedding: TaskEmbedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.wanted = nn.Embedding(4, embedding.input_dim)
        self.encoder = Encoder(embedding.input_dim, 8)
        self.point = nn.Linear(self.encoder.output_dim, 1)

    def _scores(self, batch: Batch) -> Tensor:
        side = self.embedding(batch.texts[0])
        x = self.encoder(side.input + self.wanted(batch.given[:, 1])[:, None], side.lengths)
        scores: Tensor = self.point(x)[:, :, 0]
        return scores.masked_fill(~side.mask, -1e9)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.targets is not None
        return F.cross_entropy(self._scores(batch), batch.targets[:, 0])

    def answers(self, batch: Batch) -> list[Any]:
        best = self._scores(batch).max(1)
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    beliefs = answers


PAIRS = [
    Example((Text(tuple(a.split())), Text.of_sentences(s.split() for s in b.split("."))), answer, f"pair {n}")
    for n, (a, b, answer) in enumerate(
        [
            ("a red tower", "it was big. it was old", "left"),
            ("it was big", "a red tower. so it is", "right"),
            ("the red one is here", "no. nothing", "left"),
            ("nothing at all", "the red one. there", "right"),
            ("it was old", "yes. no. nothing", "none"),
            ("yes", "it was old", "none"),
        ]
    )
]
FILLER = [("it", "was", "old"), ("nothing", "more"), ("it", "was", "big", "too"), ("so", "it", "is")]


def _document(kind: int, at: int) -> Example:
    sentences = [FILLER[(n + kind) % 4] for n in range(5)]
    sentences.insert(at, [("a", "red", "tower"), ("the", "green", "river")][kind])
    return Example((Text.of_sentences(sentences),), ("red", "green")[kind], f"document {kind} {at}", given=(kind,))


DOCUMENTS = [_document(kind, at) for kind in (0, 1) for at in (0, 2, 5)]
