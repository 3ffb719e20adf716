"""What tasks have in common whose answer is one label an example: `OneLabelTask`, and the network's `OneLabelModel`."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from elmo.tasks.details import Details, confusion_details
from elmo.tasks.examples import Example
from elmo.tasks.task import Batch, Belief, Scores, Task, TaskModel


class OneLabelModel(TaskModel):
    """A network with a score for each label; the best one is the answer."""

    @abstractmethod
    def scores(self, batch: Batch) -> Tensor:
        """Of each label: [N, K]."""

    def loss(self, batch: Batch) -> Tensor:
        """Cross entropy."""
        assert batch.targets is not None
        return F.cross_entropy(self.scores(batch).float(), batch.targets[:, 0])

    def answers(self, batch: Batch) -> list[list[int]]:
        """The likeliest label of each example."""
        return [[label] for label in self.scores(batch).argmax(1).tolist()]

    def beliefs(self, batch: Batch) -> list[Belief]:
        """The softmax over the labels."""
        scores = self.scores(batch)
        probabilities = torch.softmax(scores.double(), dim=1).tolist()
        best = scores.argmax(1).tolist()
        return [Belief([n], [row], [row[n]]) for n, row in zip(best, probabilities, strict=True)]


class OneLabelTask(Task):
    """Answers are labels; their accuracy is the score."""

    metric = "accuracy"

    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        """All labels, sorted."""
        return sorted({example.answer for example in examples})

    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """The label's id."""
        return [ids[example.answer]]

    def decode(self, _example: Example, answer: Sequence[int], labels: Sequence[str]) -> str:
        """The label."""
        return labels[answer[0]]

    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """The accuracy."""
        right = sum(example.answer == answer for example, answer in zip(examples, answers, strict=True))
        return {"accuracy": 100 * right / max(1, len(examples))}

    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """Of each label, and which were taken for which."""
        return confusion_details((e.answer, answer) for e, answer in zip(examples, answers, strict=True))


def told_belief(belief: Belief | None, labels: Sequence[str]) -> dict[str, Any]:
    """The label, its probability, and that of each label, the answer first, then likeliest first: for JSON."""
    known = [] if belief is None else belief.probabilities[0]
    order = sorted(range(len(known)), key=lambda n: (n not in belief.answer, -known[n]) if belief else n)
    probabilities = {labels[n]: round(known[n], 6) for n in order}
    label, probability = next(iter(probabilities.items()), (None, None))
    return {"label": label, "probability": probability, "probabilities": probabilities}
