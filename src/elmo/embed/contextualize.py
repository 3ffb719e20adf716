"""Tokens to layers: one batch of sentences, or one sentence too long for a batch, through a biLM. No files, no options.

N sentences, T positions with boundaries, L LSTM layers, R directions, D size of one direction.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from elmo.embed.batches import BOUNDARIES
from elmo.model.bilm import BiLM
from elmo.model.bilstm import State
from elmo.model.packed import PackedBiLM
from elmo.ops.device import to_device

LookUpWords = Callable[[Sequence[str]], Tensor]
# A biLM: token vectors [N, T, D], lengths [N] on the host, and the state -> layers [L + 1, N, T, R * D], state after.
Forward = Callable[[Tensor, Tensor, State], tuple[Tensor, State]]


def contextualize(
    bilm: Forward, vectors: LookUpWords, boundaries: Tensor, sentences: Sequence[Sequence[str]], state: State
) -> tuple[Tensor, Tensor, State]:
    """Sentences of tokens -> layers [L + 1, N, T, R * D] with their boundaries, lengths [N], and the state after."""
    device = boundaries.device
    lengths = torch.tensor([len(s) + BOUNDARIES for s in sentences], dtype=torch.long)
    T = int(lengths.max()) if len(lengths) else BOUNDARIES
    flat = vectors([word for s in sentences for word in s])  # [words, D]
    steps = torch.arange(T)
    inside = (steps >= 1) & (steps < lengths[:, None] - 1)  # [N, T]
    firsts = torch.arange(len(sentences)) * T
    # Numbers of positions, worked out on the host, so that a GPU need not be waited for.
    words, ends = to_device(inside.flatten().nonzero()[:, 0], device), to_device(firsts + lengths - 1, device)
    x = boundaries.new_zeros(len(sentences) * T, boundaries.shape[1])  # [N * T, D]
    x.index_copy_(0, words, flat.to(x.dtype))
    x[::T] = boundaries[0]
    x[ends] = boundaries[1]
    layers, after = bilm(x.view(len(sentences), T, boundaries.shape[1]), lengths, state)
    return layers, lengths, after


def contextualize_long(
    bilm: BiLM | PackedBiLM,
    vectors: LookUpWords,
    boundaries: Tensor,
    sentence: Sequence[str],
    state: State,
    *,
    window: int,
) -> Iterator[tuple[int, slice, Tensor] | State]:
    """One sentence in windows, the state carried through, in memory that does not grow with the sentence.

    Yields (direction, positions, layers [L + 1, positions, D]) for each window of each direction, positions counted
    with the begin-sentence token as 0, and at the end the state after. Each direction is a stack of its own: the
    forward one goes through the windows from the left while the backward one comes from the right.
    """
    R = bilm.config.lstm.directions
    T = len(sentence) + BOUNDARIES
    for start in range(0, T, window):
        spans = [slice(start, min(start + window, T)), slice(max(0, T - start - window), T - start)][:R]
        x = torch.stack([_span(vectors, boundaries, sentence, span) for span in spans])  # [R, t, D], t <= window
        reading = torch.cat([x[:1], x[1:].flip(1)]).unsqueeze(2)  # [R, t, 1, D]
        outputs, state = bilm.lstm(reading, state)
        for r, span in enumerate(spans):
            layers = torch.stack([reading[r, :, 0], *(y[r, :, 0] for y in outputs)])  # [L + 1, t, D]
            yield r, span, layers if r == 0 else layers.flip(1)
    yield state


def _span(vectors: LookUpWords, boundaries: Tensor, sentence: Sequence[str], span: slice) -> Tensor:
    """Token vectors of some positions of a sentence with its boundaries: [t, D]."""
    T = len(sentence) + BOUNDARIES
    words = sentence[max(0, span.start - 1) : min(span.stop - 1, len(sentence))]
    parts = [vectors(words).to(boundaries.dtype)] if words else []
    if span.start == 0:
        parts.insert(0, boundaries[:1])
    if span.stop == T:
        parts.append(boundaries[1:])
    return torch.cat(parts)
