"""What a task is to the trainer: `Task` reads, builds, scores and writes; `TaskModel` has a loss and gives answers.

N examples, M label ids of an answer, K labels.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from elmo.errors import InputError
from elmo.tasks.details import Details
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.texts import TextBatch
from elmo.tasks.examples import Example
from elmo.text.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

Scores = dict[str, float]  # in per cent


@dataclass(frozen=True)
class Batch:
    """Some examples: for each of their texts a batch, and what is to be learned [N, M], zero past its end."""

    texts: tuple[TextBatch, ...]
    targets: Tensor | None = None


@dataclass(frozen=True)
class Belief:
    """An answer, and how sure the model is of it."""

    answer: list[int]  # [M]
    probabilities: list[list[float]]  # [M, K], of every label at each place
    after: list[float]  # [M], of each label of the answer, given the one before it


class TaskModel(nn.Module, ABC):
    """A network over an embedding that it is given."""

    embedding: TaskEmbedding

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """The mean loss of the examples, without the penalty of the mixes."""

    @abstractmethod
    def answers(self, batch: Batch) -> list[list[int]]:
        """The answer to each example as label ids."""

    @abstractmethod
    def beliefs(self, batch: Batch) -> list[Belief]:
        """The same answers with their probabilities."""


class Task(ABC):
    """A kind of task with its options. It has no state: labels are found by `find_labels` and handed back to it."""

    metric: str  # the score that decides which weights are best; higher is better

    @abstractmethod
    def read(self, path: str) -> list[Example]:
        """Examples with their answers; what is malformed fails with file and line."""

    @abstractmethod
    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """Examples to be answered: files without answers are fine. `tokenizer`: for lines of raw text."""

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """What training sees of the examples."""
        return list(examples)

    @abstractmethod
    def find_labels(self, examples: Sequence[Example]) -> list[str]:
        """The labels that training examples have, in a fixed order."""

    @abstractmethod
    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """The answer of a training example as ids of labels."""

    @abstractmethod
    def decode(self, answer: Sequence[int], labels: Sequence[str]) -> Any:
        """The ids that a model gives as an answer like those of the examples."""

    @abstractmethod
    def build(self, embedding: TaskEmbedding, labels: Sequence[str]) -> TaskModel:
        """A new model."""

    @abstractmethod
    def score(self, examples: Sequence[Example], answers: Sequence[Any]) -> Scores:
        """How good answers are; `metric` is among the scores."""

    @abstractmethod
    def write(self, examples: Sequence[Example], answers: Sequence[Any]) -> Iterator[str]:
        """Lines of output."""

    @abstractmethod
    def report(
        self, examples: Sequence[Example], beliefs: Sequence[Belief | None], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """Answers with their probabilities and their places in the text as objects for JSON, one a line of raw text."""

    @abstractmethod
    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """How good answers are label by label."""


def check_labels(found: Sequence[str], known: Sequence[str], *, where: str) -> None:
    """Say which labels of a file can never be right, since training had none of them; refuse it where all are such."""
    new = sorted(set(found) - set(known))
    if new:
        shown = ", ".join(repr(label[:40]) for label in new[:5]) + (", ..." if len(new) > 5 else "")
        if len(new) == len(set(found)):
            had = ", ".join(repr(label[:40]) for label in known[:5]) + (", ..." if len(known) > 5 else "")
            raise InputError(
                f"{where}: none of its {len(new)} label(s) ({shown}) is one of training ({had}); "
                "is it another task, another column, or are text and label swapped?"
            )
        logger.warning("%s: %d label(s) that training does not have, never answered: %s", where, len(new), shown)
