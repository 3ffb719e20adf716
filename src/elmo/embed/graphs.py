"""The biLM on a GPU as CUDA graphs: a batch of a shape seen before is one launch instead of hundreds.

Shapes are rounded up, and sentences run on past their ends, so that few graphs serve all batches. What stands behind a
sentence's end in the result is arbitrary. N sentences, T positions, L layers, R directions, D size of one direction.
"""

import logging
from collections import Counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo.model.bilm import BiLM
from elmo.model.state import State
from elmo.ops.device import to_device
from elmo.ops.gpu.recording import recording

logger = logging.getLogger(__name__)

# A shape is recorded when it comes for the second time: a single sentence is not worth a recording.
SEEN_BEFORE = 1
MOST_GRAPHS = 64
MOST_POSITIONS = 1 << 17  # of a rounded shape; a long sentence alone would carry many empty rows with it
ROWS_UNIT, STEPS_UNIT = 128, 4


class CapturedBiLM:
    """Calls like those of a `BiLM` whose weights do not change; every sentence starts from the same state."""

    def __init__(self, bilm: BiLM, *, start: State) -> None:
        """`start` is the state of one row."""
        self._bilm, self._start = bilm, start
        self._seen: Counter[tuple[int, int]] = Counter()
        self._graphs: dict[tuple[int, int], _Graph] = {}
        self._too_large: set[tuple[int, int]] = set()  # to be recorded in the memory there is
        self._pool: Any = None  # a handle of torch's

    def __call__(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """x: [N, T, D], lengths [N] on the host -> layers [L + 1, N, T, R * D], which hold until the next call.

        The state is that of `start`, and the one that comes back is no other: nobody goes on from here.
        """
        N, T, _ = x.shape
        shape = (-(-N // ROWS_UNIT) * ROWS_UNIT, -(-T // STEPS_UNIT) * STEPS_UNIT)
        if shape[0] * shape[1] > MOST_POSITIONS:
            layers, after = self._bilm(x, lengths, state)
            return layers, after
        self._seen[shape] += 1
        if self._is_worth_recording(shape):
            try:
                self._graphs[shape] = self._record(shape, like=x)
            except torch.OutOfMemoryError:
                logger.info("no memory to record %d sentences of %d positions; they run step by step", *shape)
                self._too_large.add(shape)
                torch.cuda.empty_cache()
        # Step by step in the recorded shape too: another one would be summed in another order, and a batch would have
        # other last digits when it comes for the first time.
        graph = self._graphs.get(shape)
        inputs = self._inputs(shape, like=x) if graph is None else graph.inputs
        inputs.x[:N, :T] = x
        inputs.lengths[:N] = to_device(lengths, x.device)
        if graph is None:
            return self._run(inputs)[:, :N, :T], state
        graph.graph.replay()
        return graph.layers[:, :N, :T], state

    def _is_worth_recording(self, shape: tuple[int, int]) -> bool:
        if shape in self._graphs or shape in self._too_large:
            return False
        return self._seen[shape] > SEEN_BEFORE and len(self._graphs) < MOST_GRAPHS

    def _inputs(self, shape: tuple[int, int], *, like: Tensor) -> "_Inputs":
        N, T = shape
        return _Inputs(like.new_zeros(N, T, like.shape[2]), torch.full((N,), T, device=like.device))

    def _run(self, inputs: "_Inputs") -> Tensor:
        state = State(*(part.expand(-1, -1, len(inputs.x), -1) for part in self._start))
        return self._bilm.forward_padded(inputs.x, inputs.lengths, state)

    def _record(self, shape: tuple[int, int], *, like: Tensor) -> "_Graph":
        inputs = self._inputs(shape, like=like)
        # On a stream of its own, as torch wants it; the first run compiles kernels.
        stream = torch.cuda.Stream(like.device)
        stream.wait_stream(torch.cuda.current_stream(like.device))
        with torch.cuda.stream(stream):
            self._run(inputs)
        torch.cuda.current_stream(like.device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # All graphs share their memory: each one's result is used up before the next one runs.
        with recording(graph, stream=stream, pool=self._pool):
            layers = self._run(inputs)
        self._pool = graph.pool()
        return _Graph(graph, inputs, layers)


class _Inputs(NamedTuple):
    x: Tensor
    lengths: Tensor


class _Graph(NamedTuple):
    graph: torch.cuda.CUDAGraph
    inputs: _Inputs
    layers: Tensor
