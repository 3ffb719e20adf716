"""The adaptive softmax: frequent words first, rare ones in clusters of smaller vectors. And the file that holds it.

M positions, P hidden, V vocabulary in order of descending frequency.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError, WeightsError
from elmo.lm.loss import LossConfig
from elmo.ops.softmax import CHUNK_ELEMENTS, Samples
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.tensorfile import read_tensors, write_tensors

FILE = "adaptive.safetensors"
CUTOFF_FRACTIONS = (0.04, 0.2)  # of the vocabulary: ends of the clusters where none are given


@dataclass(frozen=True, kw_only=True)
class AdaptiveConfig(LossConfig):
    """[Grave et al. 2017, arXiv 1609.04309; torch.nn.AdaptiveLogSoftmaxWithLoss]"""

    has_plain_softmax: ClassVar[bool] = False

    kind: Literal["adaptive"] = "adaptive"
    cutoffs: tuple[int, ...] | None = None  # ends of the clusters but the last
    ratio: float = 4.0  # each cluster's vectors are this many times smaller than those of the one before

    def __post_init__(self) -> None:
        if self.cutoffs is not None and (
            not self.cutoffs or self.cutoffs[0] < 1 or list(self.cutoffs) != sorted(set(self.cutoffs))
        ):
            raise ConfigError(f"loss.cutoffs is {list(self.cutoffs)}; wanted are rising numbers of words")
        if not self.ratio >= 1:
            raise ConfigError(f"loss.ratio is {self.ratio}; it must be at least 1")

    def head_numbers(self, *, vocabulary: int, size: int) -> int:
        cutoffs = [*(self.cutoffs or default_cutoffs(vocabulary)), vocabulary]
        numbers = (cutoffs[0] + len(cutoffs) - 1) * (size + 1)
        for n, (first, last) in enumerate(itertools.pairwise(cutoffs)):
            numbers += int(size // self.ratio ** (n + 1)) * (size + last - first)
        return numbers


class AdaptiveHead(nn.Module):
    """torch's adaptive softmax as the output layer of both directions."""

    def __init__(self, config: AdaptiveConfig, *, vocabulary: int, size: int) -> None:
        super().__init__()
        cutoffs = config.cutoffs or default_cutoffs(vocabulary)
        if cutoffs[-1] >= vocabulary:
            raise ConfigError(f"loss.cutoffs ends with {cutoffs[-1]}, but the vocabulary has {vocabulary} words")
        self.cutoffs, self.ratio = cutoffs, config.ratio
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(
            size, vocabulary, list(cutoffs), div_value=config.ratio, head_bias=True
        )

    @property
    def vocabulary(self) -> int:
        """Words it knows (V)."""
        return self.softmax.n_classes

    def training_losses(self, hidden: Tensor, targets: Tensor, samples: Samples | None) -> Tensor:
        """hidden: [M, P], targets: [M] -> [M]."""
        assert samples is None
        log_probabilities: Tensor = self.softmax(hidden.float(), targets).output
        return -log_probabilities

    @torch.no_grad()
    def losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Exact negative log-probabilities: [M]."""
        rows = max(1, CHUNK_ELEMENTS // self.vocabulary)
        pieces = zip(torch.split(hidden, rows), torch.split(targets, rows), strict=True)
        return torch.cat([self.training_losses(h, t, None) for h, t in pieces])

    @torch.no_grad()
    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Of every word: [M, V]."""
        return self.softmax.log_prob(hidden.float())

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """As the plain softmax: normal with one over the square root of the inputs, biases zero."""
        for parameter in self.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
            else:
                parameter.zero_()


def default_cutoffs(vocabulary: int) -> tuple[int, ...]:
    """Ends of the clusters for a vocabulary of any size."""
    return tuple(sorted({max(1, int(vocabulary * fraction)) for fraction in CUTOFF_FRACTIONS}))


def write_adaptive(head: AdaptiveHead, path: Path) -> None:
    """Write the layer as a file of a model directory, whose own format has no place for it."""
    shape = {
        "cutoffs": torch.tensor(head.cutoffs, dtype=torch.float32),
        "ratio": torch.tensor([head.ratio]),
        "vocabulary": torch.tensor([float(head.vocabulary)]),
    }
    weights = {name: p.detach().cpu() for name, p in head.softmax.named_parameters()}
    write_tensors(path, {**shape, **weights})


def read_adaptive(directory: Path, *, vocabulary: int, size: int) -> AdaptiveHead | None:
    """The layer that belongs to a model directory, if there is one."""
    path = directory / FILE
    if not path.is_file():
        return None
    header = read_header(path)
    described = {name: header[name].shape for name in ("cutoffs", "ratio", "vocabulary") if name in header}
    if len(described) != 3 or [len(s) for s in described.values()] != [1, 1, 1]:
        raise WeightsError(f"{path}: is not an adaptive softmax of this product")
    tensors = read_tensors(path, {name: info.shape for name, info in header.items()})
    found = int(tensors.pop("vocabulary")[0])
    if found != vocabulary:
        raise WeightsError(f"{path}: is for {found:,} words, but the model's vocabulary has {vocabulary:,}")
    cutoffs = tuple(int(cutoff) for cutoff in tensors.pop("cutoffs").tolist())
    config = AdaptiveConfig(cutoffs=cutoffs, ratio=float(tensors.pop("ratio")[0]))
    head = AdaptiveHead(config, vocabulary=vocabulary, size=size)
    try:
        head.softmax.load_state_dict(tensors)
    except RuntimeError as error:
        raise WeightsError(f"{path}: does not fit the model ({' '.join(str(error).split())})") from None
    return head
