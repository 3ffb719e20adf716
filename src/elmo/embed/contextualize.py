"""Tokens to layers: one batch of sentences, or one sentence too long for a batch, through a biLM. No files, no options.

N sentences, T positions with boundaries, L LSTM layers, R directions, D size of one direction.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elmo.embed.batches import BOUNDARIES
from elmo.model.architecture import BiLMConfig
from elmo.model.state import State
from elmo.ops.arrays import Array, cast, concatenate, placed, reversed_steps, stack, zeros

LookUpWords = Callable[[Sequence[str]], Array]
# A biLM: token vectors [N, T, D], lengths [N] on the host, and the state -> layers [L + 1, N, T, R * D], state after.
Forward = Callable[[Array, Array, State], tuple[Array, State]]


class Runner(Protocol):
    """What computes a biLM: `PackedBiLM` over arrays, or torch's `BiLM` over tensors."""

    @property
    def config(self) -> BiLMConfig: ...
    @property
    def tokens(self) -> Callable[[Array], Array]: ...
    @property
    def lstm(self) -> Callable[..., tuple[list[Array], State]]: ...
    def __call__(self, x: Array, lengths: Array, state: State, /) -> tuple[Array, State]: ...
    def zero_state(self, rows: int) -> State: ...
    def settled_state(self, rows: int) -> State: ...


def contextualize(
    bilm: Forward, vectors: Array, boundaries: Array, counts: npt.NDArray[np.int64], state: State
) -> tuple[Array, npt.NDArray[np.int64], State]:
    """Vectors of words -> layers [L + 1, N, T, R * D] with boundaries, lengths [N] with them, and the state after.

    `vectors` [words, D] are those of all sentences one behind the other, which have `counts` [N] words.
    """
    lengths = counts + BOUNDARIES
    N, T = len(lengths), int(lengths.max(initial=BOUNDARIES))
    steps = np.arange(T)
    inside = (steps >= 1) & (steps < lengths[:, None] - 1)  # [N, T]
    # Numbers of positions, worked out on the host, so that a GPU need not be waited for.
    words, ends = np.flatnonzero(inside), np.arange(N) * T + lengths - 1
    x = zeros(N * T, boundaries.shape[1], like=boundaries)  # [N * T, D]
    x[placed(words, like=x)] = cast(vectors, like=x)
    x[::T] = boundaries[0]
    x[placed(ends, like=x)] = boundaries[1]
    layers, after = bilm(x.reshape(N, T, boundaries.shape[1]), lengths_for(x, lengths), state)
    return layers, lengths, after


def lengths_for(x: Array, lengths: npt.NDArray[np.int64]) -> Array:
    """The lengths as a biLM that reads `x` takes them: on the host."""
    if isinstance(x, np.ndarray):
        return lengths
    import torch

    return torch.from_numpy(lengths)


def contextualize_long(
    bilm: Runner,
    vectors: LookUpWords,
    boundaries: Array,
    sentence: Sequence[str],
    state: State,
    *,
    window: int,
) -> Iterator[tuple[int, slice, Array] | State]:
    """One sentence in windows, the state carried through, in memory that does not grow with the sentence.

    Yields (direction, positions, layers [L + 1, positions, D]) for each window of each direction, positions counted
    with the begin-sentence token as 0, and at the end the state after. Each direction is a stack of its own: the
    forward one goes through the windows from the left while the backward one comes from the right.
    """
    R = bilm.config.lstm.directions
    T = len(sentence) + BOUNDARIES
    for start in range(0, T, window):
        spans = [slice(start, min(start + window, T)), slice(max(0, T - start - window), T - start)][:R]
        x = stack([_span(vectors, boundaries, sentence, span) for span in spans])  # [R, t, D], t <= window
        reading = concatenate([x[:1], reversed_steps(x[1:])])[:, :, None]  # [R, t, 1, D]
        outputs, state = bilm.lstm(reading, state)
        for r, span in enumerate(spans):
            layers = stack([reading[r, :, 0], *(y[r, :, 0] for y in outputs)])  # [L + 1, t, D]
            yield r, span, layers if r == 0 else reversed_steps(layers)
    yield state


def _span(vectors: LookUpWords, boundaries: Array, sentence: Sequence[str], span: slice) -> Array:
    """Token vectors of some positions of a sentence with its boundaries: [t, D]."""
    T = len(sentence) + BOUNDARIES
    words = sentence[max(0, span.start - 1) : min(span.stop - 1, len(sentence))]
    parts = [cast(vectors(words), like=boundaries)] if words else []
    if span.start == 0:
        parts.insert(0, boundaries[:1])
    if span.stop == T:
        parts.append(boundaries[1:])
    return concatenate(parts)
