"""`Dataset`: the examples of one file as the model takes them, texts and targets on the device."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

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
        self.examples, self._device = list(examples), embedding.device
        self._texts = embedding.tabulate((text for e in examples for text in e.texts), store=store)
        self._numbers: list[Integers] = [
            self._texts.numbers([e.texts[role] for e in examples]) for role in range(task.texts)
        ]
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

    @cached_property
    def text_lengths(self) -> list[Integers]:
        """Tokens of each example, text by text."""
        return [self._texts.lengths[numbers] for numbers in self._numbers]

    @property
    def has_fixed_shapes(self) -> bool:
        """Whether `padded_batch` can be asked."""
        return self._texts.has_fixed_shapes

    def padded_batch(self, rows: Tensor, shape: Sequence[int]) -> Batch:
        """Examples by their numbers on the device, their texts padded to so many tokens each; the host waits for none.

        Integers are padded to what the longest first text of that many tokens could have.
        """
        return Batch(
            texts=tuple(
                self._texts.padded_batch(numbers[rows], T) for numbers, T in zip(self._on_device, shape, strict=True)
            ),
            given=_zero_padded_to(self._given, rows, self._given_per_token * shape[0]),
            targets=None
            if self._targets is None
            else _zero_padded_to(self._targets, rows, self._targets_per_token * shape[0]),
        )

    @cached_property
    def _on_device(self) -> list[Tensor]:
        """The numbers of the texts."""
        return [torch.from_numpy(numbers).to(self._device) for numbers in self._numbers]

    @cached_property
    def _given_per_token(self) -> int:
        return self._per_token(self._given)

    @cached_property
    def _targets_per_token(self) -> int:
        return 0 if self._targets is None else self._per_token(self._targets)

    def _per_token(self, integers: Ragged) -> int:
        """The most integers that an example has for each token of its first text, rounded up."""
        tokens = np.maximum(self.text_lengths[0], 1)
        return int((-(-integers.lengths // tokens)).max(initial=0))


def _zero_padded_to(integers: Ragged, rows: Tensor, width: int) -> Tensor:
    values, mask = integers.padded_to(rows, width)
    return values * mask


def autocast(device: torch.device, *, bf16: bool, cache: bool = True) -> torch.autocast:
    """bf16 where it is wanted; nothing otherwise."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16, cache_enabled=cache)
