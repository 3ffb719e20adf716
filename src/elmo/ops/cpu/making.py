"""How weights become operations of the CPU: compiled kernels or plain NumPy, in which numbers, from which file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elmo.ops.cpu.characters import CharWeights
from elmo.ops.cpu.kernels import PackedCharEncoder, PackedLSTMP, Products, kernels_run
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.cpu.plain import PlainCharEncoder, PlainLSTMP
from elmo.ops.steps import LSTMPState

Numbers = npt.NDArray[Any]
Encode = Callable[[npt.NDArray[np.integer[Any]]], Numbers]  # rows of ids [W, C] -> vectors [W, D]


class RunsLSTMP(Protocol):
    """One layer of `lstmp`, all directions."""

    def __call__(
        self,
        x: Numbers,
        state: LSTMPState,
        *,
        alive: Sequence[int],
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> tuple[Numbers, LSTMPState]:
        """As `lstmp_inference`."""


@dataclass(frozen=True, kw_only=True)
class Making:
    """What all parts of a network are made with: by default the compiled kernels where they are there, in float32."""

    kernels: bool | None = None
    dtype: str = "float32"
    products: Products = "float32"  # the kernels'
    file: PackedFile | None = None  # where packed weights come from, or go to for the next time

    @property
    def compiled(self) -> bool:
        """Whether kernels are made."""
        if self.dtype != "float32" or self.kernels is False:
            return False
        return kernels_run()

    def lstmp(self, x: Numbers, h: Numbers, bias: Numbers, projection: Numbers | None) -> RunsLSTMP:
        """A layer; see `PackedLSTMP`."""
        if self.compiled:
            return PackedLSTMP(x, h, bias, projection, products=self.products, file=self.file)
        last = None if projection is None else self.numbers(projection)
        return PlainLSTMP(self.numbers(x), self.numbers(h), self.numbers(bias), last)

    def encoder(self, weights: CharWeights) -> Encode:
        """A character encoder."""
        if self.compiled:
            return PackedCharEncoder(weights, products=self.products, file=self.file)
        return PlainCharEncoder(weights.cast(self.numbers))

    def numbers(self, array: Numbers) -> Numbers:
        """In the type that is computed in."""
        return array.astype(self.dtype, copy=False)
