"""`TrainedTask`: a task model with all it needs to answer. Where it is kept: `elmo.tasks.training.directory`."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from elmo.embed.batches import by_length
from elmo.tasks.details import Details
from elmo.tasks.embedding.config import EmbeddingConfig
from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.examples import Example
from elmo.tasks.recipes import Recipe
from elmo.tasks.task import Batch, Scores, Task, TaskModel, check_labels, check_texts
from elmo.tasks.training.dataset import Dataset, autocast
from elmo.weights.loaded import LoadedModel

# Of one batch of questions: networks that attend keep a number for each two tokens of a text.
MOST_EXAMPLES, MOST_POSITIONS = 256, 32768


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What fine-tuning a biLM on a task's training sentences brought: the perplexity of those that were held out.

    If it gained nothing, the biLM is the one from before. `outside`: the share of words outside the vocabulary.
    """

    gained: bool
    before: float
    after: float
    outside: float
    sentences: int
    words: int
    sha256_before: str


@dataclass(frozen=True, kw_only=True)
class BiLMReference:
    """Which biLM a task model was trained with: the hash of its numbers, where it was, and how it was tuned before."""

    sha256: str
    source: str
    tuning: Tuning | None = None

    def to_dict(self) -> dict[str, Any]:
        """As task.json has it: without a word of tuning where there was none."""
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}

    @property
    def is_tuned(self) -> bool:
        """Whether it is another one than `source` has, so that it comes with the task model."""
        return self.tuning is not None and self.tuning.gained


class Questions:
    """Examples to be answered, as the windows that the task makes of them; one without tokens is not asked at all."""

    def __init__(
        self, task: Task, examples: Sequence[Example], embedding: TaskEmbedding, *, store: LayerStore | None = None
    ) -> None:
        check_texts(task, examples)
        self.task, self.examples = task, list(examples)
        self.windows = [task.windows(example) if all(example.texts) else () for example in examples]
        self.data = Dataset(task, [window for windows in self.windows for window in windows], embedding, store=store)

    def together(self, found: Sequence[Any]) -> list[Any]:
        """What was found for each window as one thing an example; None where nothing was asked."""
        whole: list[Any] = []
        first = 0
        for example, windows in zip(self.examples, self.windows, strict=True):
            own = found[first : first + len(windows)]
            first += len(windows)
            if len(own) > 1:
                whole.append(self.task.join(example, windows, own))
            else:
                whole.append(own[0] if own else None)
        return whole


@dataclass(frozen=True, kw_only=True)
class TrainedTask:
    """A task model ready to answer."""

    name: str
    recipe: Recipe
    task: Task
    labels: list[str]
    model: TaskModel
    bilm_reference: BiLMReference | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # scores, mixes: for whoever reads task.json

    @property
    def embedding(self) -> TaskEmbedding:
        """The vectors of the tokens."""
        return self.model.embedding

    def questions(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> Questions:
        """Examples ready to be answered, more than once if so wanted."""
        return Questions(self.task, examples, self.embedding, store=store)

    def predict(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> list[Any]:
        """The answer to each example, in order; None to one that has no tokens."""
        return self.answer(self.questions(examples, store=store))

    def report(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> list[dict[str, Any]]:
        """Answers with their probabilities and their places in the text, as `elmo task predict --json` writes them."""
        beliefs = self._ask(self.questions(examples, store=store), self.model.beliefs)
        return list(self.task.report(examples, beliefs, self.labels))

    def evaluate(self, examples: Sequence[Example], *, store: LayerStore | None = None) -> Scores:
        """How good the answers are."""
        return self.task.score(examples, self._answer_known(examples, store))

    def evaluate_details(
        self, examples: Sequence[Example], *, store: LayerStore | None = None
    ) -> tuple[Scores, Details]:
        """The same, and how good they are label by label."""
        answers = self._answer_known(examples, store)
        return self.task.score(examples, answers), self.task.details(examples, answers)

    def answer(self, questions: Questions, *, bf16: bool = False) -> list[Any]:
        """The answers to questions, in order."""
        pairs = zip(questions.examples, self._ask(questions, self.model.answers, bf16=bf16), strict=True)
        return [None if answer is None else self.task.decode(example, answer, self.labels) for example, answer in pairs]

    def _answer_known(self, examples: Sequence[Example], store: LayerStore | None) -> list[Any]:
        where = examples[0].place.partition(": line ")[0] if examples else "the examples"
        check_labels(self.task.find_labels(examples), self.labels, where=where, describe=self.task.describe_label)
        return self.predict(examples, store=store)

    @torch.no_grad()
    def _ask(self, questions: Questions, ask: Callable[[Batch], list[Any]], *, bf16: bool = False) -> list[Any]:
        """What `ask` finds in each example, batch by batch, in the order of the examples."""
        data = questions.data
        found: dict[int, Any] = {}
        was_training = self.model.training
        if was_training:  # a loaded model is not: threads may share it, and none switches dropout on behind another
            self.model.eval()
        lengths = data.lengths.tolist()
        for batch in by_length(lengths, most_sentences=MOST_EXAMPLES, most_positions=MOST_POSITIONS):
            with autocast(self.embedding.device, bf16=bf16):
                found.update(zip(batch, ask(data.batch(np.array(batch, dtype=np.int64))), strict=True))
        if was_training:
            self.model.train()
        return questions.together([found[n] for n in range(len(data))])


def build_model(
    task: Task,
    config: EmbeddingConfig,
    labels: Sequence[str],
    *,
    word_list: WordList | None,
    word_dim: int,
    model: LoadedModel | None,
) -> TaskModel:
    """A new task model over an embedding as configured, on the CPU; `model` has its biLM."""
    return task.build(TaskEmbedding(config, word_list=word_list, word_dim=word_dim, model=model), labels)
