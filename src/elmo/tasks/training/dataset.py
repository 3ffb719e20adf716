"""`Dataset`: the examples of one file as the model takes them, texts and targets on the device."""

from collections.abc import Sequence

import numpy as np
import torch

from elmo.tasks.embedding.embedding import TaskEmbedding
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.examples import Example
from elmo.tasks.ragged import Integers, Ragged
from elmo.tasks.task import Batch, Task, check_texts


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
        check_texts(task, examples)
        self.examples = list(examples)
        self._texts = embedding.tabulate((text for e in examples for text in e.texts), store=store)
        self._numbers = [self._texts.numbers([e.texts[role] for e in examples]) for role in range(task.texts)]
        self._given = Ragged.of([example.given for example in examples], device=embedding.device)
        self._targets: Ragged | None = None
        if labels is not None:
            ids = {label: n for n, label in enumerate(labels)}
            self._targets = Ragged.of([task.encode(e, ids) for e in examples], device=embedding.device)

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> Integers:
        """Tokens of each example, all its texts together."""
        total: Integers = np.sum([self._texts.lengths[numbers] for numbers in self._numbers], axis=0)
        return total

    def batch(self, rows: Integers) -> Batch:
        """The examples with these numbers."""
        return Batch(
            texts=tuple(self._texts.batch(numbers[rows]) for numbers in self._numbers),
            given=self._given.zero_padded(rows),
            targets=None if self._targets is None else self._targets.zero_padded(rows),
        )


def autocast(device: torch.device, *, bf16: bool) -> torch.autocast:
    """bf16 where it is wanted; nothing otherwise."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16)
