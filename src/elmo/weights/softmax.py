"""The output layer of a language model as a reader of files has it: arrays, and tensors when they are asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elmo.ops.arrays import host
from elmo.weights.guarded.arrayfile import Numbers

if TYPE_CHECKING:
    from torch import Tensor

    from elmo.weights.loaded import LoadedModel


class Softmax(NamedTuple):
    """The output layer of the language model, shared by both directions."""

    weight: "Tensor"  # [V, D]
    bias: "Tensor"  # [V]


class SoftmaxArrays(NamedTuple):
    """The same as arrays."""

    weight: Numbers
    bias: Numbers

    @classmethod
    def of(cls, softmax: Softmax) -> "SoftmaxArrays":
        """Those of tensors, in the same memory where they are on the CPU."""
        return cls(*map(host, softmax))


class StoredSoftmax:
    """A softmax that a file holds: of a known shape, its arrays and its tensors each made once, when asked for."""

    def __init__(self, shapes: tuple[tuple[int, ...], tuple[int, ...]], read: Callable[[], SoftmaxArrays]) -> None:
        self.shapes = shapes
        self._read = read
        self._arrays: SoftmaxArrays | None = None
        self._tensors: Softmax | None = None

    @classmethod
    def of(cls, arrays: SoftmaxArrays) -> "StoredSoftmax":
        """One whose arrays are there."""
        return cls((arrays.weight.shape, arrays.bias.shape), lambda: arrays)

    def arrays(self) -> SoftmaxArrays:
        """Its numbers."""
        if self._arrays is None:
            self._arrays = self._read()
        return self._arrays

    def tensors(self) -> Softmax:
        """The same in torch, in the same memory."""
        if self._tensors is None:
            import torch

            self._tensors = Softmax(*map(torch.from_numpy, self.arrays()))
        return self._tensors

    def __getstate__(self) -> SoftmaxArrays:
        return self.arrays()

    def __setstate__(self, arrays: SoftmaxArrays) -> None:
        self.__init__((arrays.weight.shape, arrays.bias.shape), lambda: arrays)  # type: ignore[misc]


class SoftmaxApart:
    """A softmax in a file of its own beside the weights, read when it is first asked for."""

    def __init__(
        self, *, path: Path, sha256: str | None, read: Callable[["SoftmaxApart", "LoadedModel"], SoftmaxArrays]
    ) -> None:
        self.path = path
        self.sha256 = sha256  # of the file, where the model records it
        self._read = read
        self._found: StoredSoftmax | None = None

    def stored(self, model: "LoadedModel") -> StoredSoftmax:
        """Its numbers; WeightsError where the file is damaged or does not fit the model."""
        if self._found is None:
            self._found = StoredSoftmax.of(self._read(self, model))
        return self._found
