"""`BiLMArrays`: the weights of a biLM as a reader of files has them, before anything is built of them.

`StoredTensors` gives the weights of a file in float32, each made when it is asked for: a model in eight bits never
stands in memory as a whole in 32.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from elmo.model.architecture import BiLMConfig
from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.arrays import host
from elmo.ops.cpu.making import Making
from elmo.ops.cpu.memory import release_pages
from elmo.weights.guarded.arrayfile import Numbers, from_bfloat16
from elmo.weights.quantized import dequantize
from elmo.weights.tensors import SCALE, SETTLED

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM


class StoredTensors(Mapping[str, Numbers]):
    """The arrays of a file by name, in float32. Those in eight bits have their scales beside them."""

    def __init__(self, stored: Mapping[str, Numbers]) -> None:
        self.stored = stored
        self._names = [name for name in stored if not (name.endswith(SCALE) and name.removesuffix(SCALE) in stored)]

    def __getitem__(self, name: str) -> Numbers:
        stored = self.stored[name]
        if stored.dtype == np.float32:
            return stored
        if stored.dtype == np.int8:
            numbers: Numbers = dequantize(stored, self.stored[name + SCALE])
        else:
            numbers = from_bfloat16(stored) if stored.dtype == np.uint16 else stored.astype(np.float32)
        release_pages(stored)
        return numbers

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class BiLMArrays:
    """The weights of an architecture, and its settled state [L, R, P] and [L, R, H], zeros where there is none."""

    config: BiLMConfig
    weights: Mapping[str, Numbers]
    settled: State

    @classmethod
    def of(cls, config: BiLMConfig, tensors: Mapping[str, Numbers]) -> "BiLMArrays":
        """The arrays of a file, with or without a settled state."""
        shapes = dict(zip(SETTLED, config.state_shapes, strict=True))
        settled = (tensors[name] if name in tensors else np.zeros(shape, np.float32) for name, shape in shapes.items())
        return cls(config, tensors, State(*settled))

    @classmethod
    def of_network(cls, bilm: "BiLM") -> "BiLMArrays":
        """Those of torch's network, in the same memory where it is on the CPU."""
        return cls.of(bilm.config, {name: host(tensor) for name, tensor in bilm.state_dict().items()})

    @property
    def tensors(self) -> Mapping[str, Numbers]:
        """All arrays by name, the settled state too."""
        own = dict(zip(SETTLED, self.settled, strict=True))
        return ChainMap(own, cast(dict[str, Numbers], self.weights))

    def with_settled(self, state: State) -> "BiLMArrays":
        """With the state of one row as the settled one."""
        return BiLMArrays(self.config, self.weights, State(state.h[:, :, 0], state.c[:, :, 0]))

    def plain(self) -> PackedBiLM:
        """The network in plain NumPy, for a few tokens: nothing is packed."""
        return PackedBiLM(self.config, self.tensors, Making(kernels=False))

    @property
    def bilm(self) -> "BiLM":
        """The network in torch, made anew each time."""
        return self.build()

    def build(self) -> "BiLM":
        """The network in torch, which uses the arrays as they are."""
        import torch

        from elmo.model.bilm import BiLM

        with torch.device("meta"):  # names and shapes alone, for which nothing is allocated
            bilm = BiLM(self.config)
        tensors = self.tensors
        bilm.load_state_dict({name: torch.from_numpy(tensors[name]) for name in tensors}, strict=True, assign=True)
        return bilm.eval()
