"""What a task is to the trainer: `Task` reads, builds, scores and writes; `TaskModel` has a loss and gives answers.

N examples, M integers of an answer, G integers given with an example, K labels.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from torch import Tensor, nn

from elmo.errors import InputError
from elmo.tasks.details import Details
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.texts import TextBatch
from elmo.tasks.examples import Example
from elmo.tasks.htmlpage import MarkedText
from elmo.text.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

Scores = dict[str, float]  # in per cent


@dataclass(frozen=True)
class Batch:
    """Some examples: a batch for each of their texts, integers given with them, what is to be learned."""

    texts: tuple[TextBatch, ...]
    given: Tensor  # [N, G], zero past the end
    targets: Tensor | None = None  # [N, M], zero past the end


@dataclass(frozen=True)
class Belief:
    """An answer of label ids, and how sure the model is of it."""

    answer: list[int]  # [M]
    probabilities: list[list[float]]  # [M, K], of every label at each place
    after: list[float]  # [M], of each label of the answer, given the one before it


class Unwaited(NamedTuple):
    """A loss of a batch of fixed shapes. `sound`: whether it is right; None where it always is."""

    loss: Tensor
    sound: Tensor | None = None


class TaskModel(nn.Module, ABC):
    """A network over an embedding that it is given.

    `can_be_captured`: whether `loss_without_waiting` is fit to be recorded as a CUDA graph.
    """

    embedding: TaskEmbedding
    can_be_captured: ClassVar[bool] = False

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """The mean loss of the examples, without the penalty of the mixes."""

    def loss_without_waiting(self, batch: Batch) -> Unwaited:
        """The same of texts in a fixed shape, the host asking for no number; where it is not sound, `loss` is asked."""
        return Unwaited(self.loss(batch))

    @abstractmethod
    def answers(self, batch: Batch) -> list[Any]:
        """The answer to each example, as the task's `decode` takes it: ids of labels, say."""

    @abstractmethod
    def beliefs(self, batch: Batch) -> list[Any]:
        """The same answers with their probabilities, as the task's `report` takes them: a `Belief`, say."""


class Task(ABC):
    """A kind of task with its options. It has no state: labels are found by `find_labels` and handed back to it."""

    metric: str  # the score that decides which weights are best; higher is better
    texts: int = 1  # of each example
    reads_records: bool = True  # whether a .jsonl file can have its examples, an object a line

    @abstractmethod
    def read(self, path: str) -> list[Example]:
        """Examples with their answers; what is malformed fails with file and line."""

    @abstractmethod
    def read_questions(self, path: str, tokenizer: Tokenizer | None) -> list[Example]:
        """Examples to be answered: files without answers are fine. `tokenizer`: for lines of raw text."""

    def ask(self, path: str, questions: Sequence[str]) -> list[Example]:  # noqa: ARG002 - for tasks that answer some
        """Questions in words about the text of a file."""
        raise InputError(
            "this task answers no questions; --question is for those that `elmo task train questions` made"
        )

    def training_examples(self, examples: Sequence[Example]) -> list[Example]:
        """What training sees of the examples."""
        return list(examples)

    def windows(self, example: Example) -> Sequence[Example]:
        """What is asked in the place of an example whose texts are too long; `Text.part` cuts them at sentences."""
        return (example,)

    def join(self, example: Example, windows: Sequence[Example], answers: Sequence[Any]) -> Any:
        """One answer (or belief) in the place of those to several windows of an example."""
        raise NotImplementedError(f"{type(self).__name__} has windows, and does not say how their answers are joined")

    def find_labels(self, examples: Sequence[Example]) -> list[str]:  # noqa: ARG002 - for tasks that have labels
        """The labels that training examples have, in a fixed order; none where answers are no labels."""
        return []

    def describe_label(self, label: str) -> str:
        """A label in the words of its file, where it is learned under another name."""
        return quoted(label)

    @abstractmethod
    def encode(self, example: Example, ids: Mapping[str, int]) -> list[int]:
        """The answer of a training example as integers: ids of labels, places in the text."""

    @abstractmethod
    def decode(self, example: Example, answer: Any, labels: Sequence[str]) -> Any:
        """What the model answers to an example, as an answer like those of the examples."""

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
        self, examples: Sequence[Example], beliefs: Sequence[Any], labels: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """Answers with their probabilities and their places in the text as objects for JSON, one a line of raw text.

        The belief of an example without tokens is None.
        """

    def marked_texts(self, reports: Iterable[Mapping[str, Any]]) -> Iterator[MarkedText]:  # noqa: ARG002 - for tasks that mark
        """What `report` gives as texts with marks, for people to look at."""
        raise InputError(
            "this task marks no places in a text, so there is nothing to show as HTML; --json has its answers"
        )

    @abstractmethod
    def details(self, examples: Sequence[Example], answers: Sequence[Any]) -> Details:
        """How good answers are label by label."""


class TaskConfig(Protocol):
    """The options of a kind of task: a frozen dataclass, whose `kind` tells it from others in a file."""

    @property
    def kind(self) -> str:
        """The kind's name."""

    def make(self) -> Task:
        """The task that the options describe."""


def check_texts(task: Task, examples: Sequence[Example]) -> None:
    """Refuse an example that has not as many texts as the task reads."""
    for number, example in enumerate(examples, start=1):
        if len(example.texts) != task.texts:
            raise InputError(
                f"{example.place}: example {number} has {len(example.texts)} text(s), but this task reads {task.texts}"
            )


def quoted(label: str) -> str:
    """A label as messages show it."""
    return repr(label[:40])


def check_labels(
    found: Sequence[str], known: Sequence[str], *, where: str, describe: Callable[[str], str] = quoted
) -> None:
    """Say which labels of a file can never be right, since training had none of them; refuse it where all are such."""
    missing = sorted(set(found) - set(known))
    if not missing:
        return
    told = _told(missing, describe)
    if len(missing) == len(set(found)):
        raise InputError(
            f"{where}: none of its {len(missing)} label(s) ({told}) is one of training ({_told(known, describe)}); "
            "is it another task, another column, or are text and label swapped?"
        )
    logger.warning("%s: %d label(s) that training does not have, never answered: %s", where, len(missing), told)


def _told(labels: Sequence[str], describe: Callable[[str], str]) -> str:
    names = list(dict.fromkeys(map(describe, labels)))
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
