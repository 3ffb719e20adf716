"""`Dataset`: the examples of one file as the model takes them, texts and targets on the device."""

from collections.abc import Sequence

import numpy as np
import torch

from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.embedding.texts import TextTable
from elmo.tasks.examples import Example
from elmo.tasks.task import Batch, Task
from elmo.tasks.training.ragged import Integers, Ragged


class Dataset:
    """Examples by number; with `labels` they have targets to learn."""

    def __init__(
        self,
        task: Task,
        examples: Sequence[Example],
        embedding: TaskEmbedding,
        *,
        labels: Sequence[str] | None = None,
        store: LayerStore | None = None,
    ) -> None:
        self.examples = list(examples)
        roles = range(len(examples[0].texts) if examples else 0)
        self.table: TextTable = embedding.tabulate((text for e in examples for text in e.texts), store=store)
        self._numbers = [self.table.numbers([e.texts[role] for e in examples]) for role in roles]
        self._targets: Ragged | None = None
        if labels is not None:
            ids = {label: n for n, label in enumerate(labels)}
            self._targets = Ragged.of([task.encode(e, ids) for e in examples], device=embedding.device)

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> Integers:
        """Tokens of each example, all its texts together."""
        if not self._numbers:
            return np.zeros(0, dtype=np.int64)
        total: Integers = np.sum([self.table.lengths[numbers] for numbers in self._numbers], axis=0)
        return total

    def batch(self, rows: Integers) -> Batch:
        """The examples with these numbers."""
        texts = tuple(self.table.batch(numbers[rows]) for numbers in self._numbers)
        if self._targets is None:
            return Batch(texts)
        targets, _ = self._targets.padded(rows)
        return Batch(texts, targets)


def autocast(device: torch.device, *, bf16: bool) -> torch.autocast:
    """bf16 where it is wanted; nothing otherwise."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16)
