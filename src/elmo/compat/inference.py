"""`Inference`: a biLM of torch's, computed as `elmo.load` computes it for as long as none of its weights learns.

N sentences, T positions, C characters in a row, W rows, D size of a token vector.
"""

from torch import Tensor, from_numpy

from elmo.embed.runners import packed_copy, weights_stamp
from elmo.model.bilm import BiLM
from elmo.model.packed import PackedBiLM
from elmo.model.state import State


class Inference:
    """On a CPU a copy for the compiled kernels, made at the first use; elsewhere, and while it learns, the biLM itself.

    Nothing goes stale: when a weight is not the one it was, the copy is made anew. Copies of this have none at first.
    """

    def __init__(self, bilm: BiLM) -> None:
        self.bilm = bilm
        self._packed: PackedBiLM | None = None
        self._stamp: object = None

    @property
    def learns(self) -> bool:
        """Whether a weight takes a gradient."""
        return any(parameter.requires_grad for parameter in self.bilm.parameters())

    @property
    def runner(self) -> BiLM | PackedBiLM:
        """What computes now."""
        if self.learns:
            self._packed = self._stamp = None
            return self.bilm
        stamp = weights_stamp(self.bilm)
        if stamp != self._stamp:
            self._packed, self._stamp = packed_copy(self.bilm), stamp
        return self._packed or self.bilm

    def tokens(self, rows: Tensor) -> Tensor:
        """Rows of ids [W, C] -> token vectors [W, D]."""
        runner = self.runner
        vectors = from_numpy(runner.tokens(rows.numpy())) if isinstance(runner, PackedBiLM) else runner.tokens(rows)
        assert isinstance(vectors, Tensor)
        return vectors

    def __call__(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """Token vectors [N, T, D] and lengths [N] -> layers and the state after, as `BiLM` gives them."""
        runner = self.runner
        if not isinstance(runner, PackedBiLM) or x.requires_grad:  # a cached word vector may learn without the biLM
            outputs: tuple[Tensor, State] = self.bilm(x, lengths, state)
            return outputs
        before = State(*(part.detach().numpy() for part in state))
        layers, after = runner(x.detach().numpy(), lengths.numpy(), before)
        return from_numpy(layers), State(*map(from_numpy, after))

    def __getstate__(self) -> BiLM:
        return self.bilm

    def __setstate__(self, bilm: BiLM) -> None:
        self.__init__(bilm)  # type: ignore[misc]
