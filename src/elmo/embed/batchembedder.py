"""One batch of sentences to their vectors, in the memory there is: halved, or in windows, where it does not suffice.

L layers, N sentences, T positions with boundaries, D size of a vector, P size of one direction.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elmo.embed.batches import BOUNDARIES
from elmo.embed.choices import Layers
from elmo.embed.contextualize import Forward, LookUpWords, Runner, contextualize, contextualize_long
from elmo.embed.selection import select_layers, sentence_vectors
from elmo.model.state import State
from elmo.ops.arrays import Array, concatenate, host

Vectors = npt.NDArray[np.float32]

logger = logging.getLogger(__name__)

SMALLEST_WINDOW = 16


@dataclass(frozen=True, kw_only=True)
class BatchEmbedder:
    """What the batches of one call share. `runner` goes through a long sentence, `forward` through whole batches."""

    forward: Forward
    runner: Runner
    word_vectors: LookUpWords
    boundaries: Array  # [2, D]
    layers: Layers
    dtype: str  # of the vectors that come out
    most_positions: int  # rows x steps that go through at once
    advanced: Callable[[int], None]  # is told of so many tokens more

    def embed(self, sentences: list[Sequence[str]], state: State) -> tuple[list[Vectors], State]:
        """One batch, halved and tried again for as long as memory does not suffice."""
        widest = max(len(s) for s in sentences) + BOUNDARIES
        try:
            if len(sentences) == 1 and widest > self.most_positions:
                return self._embed_long(sentences[0], state, window=self.most_positions)
            if len(sentences) * widest <= 2 * self.most_positions:
                embedded = self._embed_together(sentences, state)
                self.advanced(sum(map(len, sentences)))
                return embedded
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            if len(sentences) == 1:
                return self._embed_in_smaller_windows(sentences[0], state, error)
            logger.warning("out of memory with %d sentences of %d tokens; halving", len(sentences), widest)
            self._empty_caches()
        # A batch over the budget comes only from state "carry", whose batches are the caller's; rows are independent.
        half = len(sentences) // 2
        left, left_state = self.embed(sentences[:half], state.rows(slice(None, half)))
        right, right_state = self.embed(sentences[half:], state.rows(slice(half, None)))
        return left + right, State(*(concatenate(both, 2) for both in zip(left_state, right_state, strict=True)))

    def _empty_caches(self) -> None:
        if not isinstance(self.boundaries, np.ndarray) and self.boundaries.is_cuda:
            import torch

            torch.cuda.empty_cache()

    def _embed_in_smaller_windows(
        self, sentence: Sequence[str], state: State, error: Exception
    ) -> tuple[list[Vectors], State]:
        window = min(self.most_positions, len(sentence) + BOUNDARIES) // 2
        while window >= SMALLEST_WINDOW:
            logger.warning("out of memory with a sentence of %d tokens; windows of %d", len(sentence), window)
            try:
                return self._embed_long(sentence, state, window=window)
            except (MemoryError, RuntimeError) as again:
                if not _is_out_of_memory(again):
                    raise
                window //= 2
        raise error

    def _embed_together(self, sentences: list[Sequence[str]], state: State) -> tuple[list[Vectors], State]:
        stacked, lengths, after = contextualize(self.forward, self.word_vectors, self.boundaries, sentences, state)
        chosen = select_layers(stacked, self.layers)  # [N, T, D] or [L, N, T, D]
        return sentence_vectors(chosen, (lengths - 1).tolist(), dtype=self.dtype), after

    def _embed_long(self, sentence: Sequence[str], state: State, *, window: int) -> tuple[list[Vectors], State]:
        config = self.runner.config
        P = config.lstm.output_dim
        all_layers = (config.layer_count,) if self.layers == "all" else ()
        result = np.zeros((*all_layers, len(sentence), config.output_dim), self.dtype)
        after = state
        for piece in contextualize_long(
            self.runner, self.word_vectors, self.boundaries, sentence, state, window=window
        ):
            if isinstance(piece, State):
                after = piece
                continue
            direction, span, stacked = piece  # stacked: [L + 1, t, P]
            first, last = max(span.start, 1), min(span.stop, len(sentence) + 1)  # without the boundaries
            if first < last:
                chosen = host(select_layers(stacked[:, first - span.start : last - span.start], self.layers))
                result[..., first - 1 : last - 1, direction * P : (direction + 1) * P] = chosen
                if direction == 0:
                    self.advanced(last - first)
        return [result], after


def _is_out_of_memory(error: BaseException) -> bool:
    """What torch, NumPy and the kernels say when there is none."""
    return any(text in str(error) for text in ("DefaultCPUAllocator", "out of memory", "Unable to allocate"))
