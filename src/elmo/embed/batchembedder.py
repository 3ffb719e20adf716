"""One batch of sentences to their vectors, in the memory there is: halved, or in windows, where it does not suffice.

L layers, N sentences, T positions with boundaries, D size of a vector, P size of one direction.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elmo.embed.batches import BOUNDARIES
from elmo.embed.choices import Layers
from elmo.embed.contextualize import Forward, Runner, contextualize, contextualize_long
from elmo.embed.numbered import Integers, NumberedSentences, ranges
from elmo.embed.results import Results
from elmo.embed.selection import select_layers
from elmo.embed.wordsofcall import WordsOfCall
from elmo.model.state import State
from elmo.ops.arrays import Array, concatenate, host, placed

if TYPE_CHECKING:
    from elmo.embed.outbox import Outbox

logger = logging.getLogger(__name__)

SMALLEST_WINDOW = 16


@dataclass(frozen=True, kw_only=True)
class BatchEmbedder:
    """What the batches of one call share. `runner` goes through a long sentence, `forward` through whole batches.

    Vectors go into `results`: from a GPU by way of `outbox`, which is behind.
    """

    sentences: NumberedSentences
    results: Results
    forward: Forward
    runner: Runner
    words: WordsOfCall
    boundaries: Array  # [2, D]
    layers: Layers
    outbox: "Outbox | None"
    most_positions: int  # rows x steps that go through at once
    advanced: Callable[[int], None]  # is told of so many tokens more

    def embed(self, batch: Integers, state: State) -> State:
        """The sentences of these numbers, halved and tried again for as long as memory does not suffice."""
        lengths = self.sentences.lengths[batch]
        widest = int(lengths.max()) + BOUNDARIES
        try:
            if len(batch) == 1 and widest > self.most_positions:
                return self._embed_long(int(batch[0]), state, window=self.most_positions)
            if len(batch) * widest <= 2 * self.most_positions:
                after = self._embed_together(batch, lengths, state)
                self.advanced(int(lengths.sum()))
                return after
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            if len(batch) == 1:
                return self._embed_in_smaller_windows(int(batch[0]), state, error)
            logger.warning("out of memory with %d sentences of %d tokens; halving", len(batch), widest)
            self._empty_caches()
        # A batch over the budget comes only from state "carry", whose batches are the caller's; rows are independent.
        half = len(batch) // 2
        left = self.embed(batch[:half], state.rows(slice(None, half)))
        right = self.embed(batch[half:], state.rows(slice(half, None)))
        return State(*(concatenate(both, 2) for both in zip(left, right, strict=True)))

    def _empty_caches(self) -> None:
        if not isinstance(self.boundaries, np.ndarray) and self.boundaries.is_cuda:
            import torch

            torch.cuda.empty_cache()

    def _embed_in_smaller_windows(self, sentence: int, state: State, error: Exception) -> State:
        count = int(self.sentences.lengths[sentence])
        window = min(self.most_positions, count + BOUNDARIES) // 2
        while window >= SMALLEST_WINDOW:
            logger.warning("out of memory with a sentence of %d tokens; windows of %d", count, window)
            try:
                return self._embed_long(sentence, state, window=window)
            except (MemoryError, RuntimeError) as again:
                if not _is_out_of_memory(again):
                    raise
                window //= 2
        raise error

    def _embed_together(self, batch: Integers, lengths: Integers, state: State) -> State:
        vectors = self.words.of(batch)
        stacked, _, after = contextualize(self.forward, vectors, self.boundaries, lengths, state)
        chosen = select_layers(stacked, self.layers)  # [N, T, D] or [L, N, T, D]
        if self.outbox is None:
            self.results.put(batch, host(chosen))
        else:
            self._send(batch, lengths, chosen)
        return after

    def _send(self, batch: Integers, lengths: Integers, chosen: Array) -> None:
        """The same from a GPU: only what is wanted crosses, in the type that is wanted."""
        import torch

        assert self.outbox is not None
        T = chosen.shape[-2]
        index = placed(ranges(np.arange(len(batch)) * T + 1, lengths), like=chosen)
        dtype = getattr(torch, self.results.rows.dtype.name)
        wanted = chosen.flatten(-3, -2).index_select(-2, index).to(dtype)  # [.., tokens, D]
        self.outbox.send(wanted.flatten(0, -2), self.results.rows, self.results.places(batch))

    def _embed_long(self, sentence: int, state: State, *, window: int) -> State:
        config = self.runner.config
        P = config.lstm.output_dim
        tokens = self.sentences.words_of(sentence)
        result = self.results.of_sentence(sentence)
        result[...] = 0
        after = state
        for piece in contextualize_long(
            self.runner, self.words.cache.look_up, self.boundaries, tokens, state, window=window
        ):
            if isinstance(piece, State):
                after = piece
                continue
            direction, span, stacked = piece  # stacked: [L + 1, t, P]
            first, last = max(span.start, 1), min(span.stop, len(tokens) + 1)  # without the boundaries
            if first < last:
                chosen = host(select_layers(stacked[:, first - span.start : last - span.start], self.layers))
                result[..., first - 1 : last - 1, direction * P : (direction + 1) * P] = chosen
                if direction == 0:
                    self.advanced(last - first)
        return after


def _is_out_of_memory(error: BaseException) -> bool:
    """What torch, NumPy and the kernels say when there is none."""
    return any(text in str(error) for text in ("DefaultCPUAllocator", "out of memory", "Unable to allocate"))
