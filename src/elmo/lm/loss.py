"""What every loss knows of itself, so that nobody asks which it is: its samples, its softmax, its size."""

from typing import ClassVar, Self


class LossConfig:
    """The configuration of a loss; the answers of a plain softmax over the whole vocabulary."""

    has_plain_softmax: ClassVar[bool] = True  # one weight and bias a word, which any model file can hold

    def with_samples(self, samples: int) -> Self:  # noqa: ARG002 - for losses that sample
        """The same with this number of samples, where it is left open."""
        return self

    def samples_of(self, vocabulary: int) -> int | None:  # noqa: ARG002
        """Samples that it draws from a vocabulary; None where it draws none."""
        return None

    def head_numbers(self, *, vocabulary: int, size: int) -> int:
        """How many numbers its output layer has."""
        return vocabulary * (size + 1)
