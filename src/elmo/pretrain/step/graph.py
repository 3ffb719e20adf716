"""The training step as one CUDA graph: recorded once, replayed with new numbers in the same places.

What a step reads (symbols, learning rate) is written into fixed buffers before each replay, and the state stays on the
device. The graph holds the very calls of `train_step`, so it equals the eager step; a test on a GPU holds that.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from elmo.model.state import State
from elmo.ops.gpu.recording import recording
from elmo.pretrain.step.step import StepResult

# Run before recording: kernels are compiled and workspaces allocated by then. They are real steps of the training.
EAGER_STEPS = 3

# The symbols of the step, the state before it, and the learning rate -> what it tells.
Body = Callable[[Tensor, State, Tensor], StepResult]


class CapturedStep:
    """A step on fixed shapes; `body` is given tensors on the device and draws from `generators`."""

    def __init__(self, body: Body, *, state: State, generators: Sequence[torch.Generator]) -> None:
        device = state.h.device
        self._body = body
        self._symbols: Tensor | None = None
        self._learning_rate = torch.zeros((), device=device)
        self.state = State(state.h.clone(), state.c.clone())
        self._generators = generators
        self._stream = torch.cuda.Stream(device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: StepResult | None = None
        self._eager_steps = 0

    def set_state(self, state: State) -> None:
        """Go on from another state."""
        self.state.h.copy_(state.h)
        self.state.c.copy_(state.c)

    def __call__(self, symbols: Tensor, *, learning_rate: float, body: Body | None = None) -> StepResult:
        """One step, its generators seeded. `body` takes the place of the recorded one for a batch that does not fit."""
        if self._symbols is None:
            self._symbols = torch.empty_like(symbols, device=self._learning_rate.device)
        self._symbols.copy_(symbols, non_blocking=True)
        self._learning_rate.fill_(learning_rate)
        if body is not None:
            return self._run_eagerly(body)
        if self._eager_steps < EAGER_STEPS:
            self._eager_steps += 1
            return self._run_eagerly(self._body)
        if self._graph is None:
            self._graph = self._record()
        self._graph.replay()
        assert self._result is not None
        losses, norm, bad, _ = self._result
        return StepResult(losses.clone(), norm.clone(), bad.clone(), self.state)

    def _run_eagerly(self, body: Body) -> StepResult:
        """On the stream that will record, as torch wants it."""
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            assert self._symbols is not None
            result = body(self._symbols, self.state, self._learning_rate)
            self.set_state(result.state)
        current.wait_stream(self._stream)
        return result._replace(state=self.state)

    def _record(self) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            graph.register_generator_state(generator)
        # The thread that fetches ahead may pin memory meanwhile; that is none of this stream's business.
        with recording(graph, stream=self._stream):
            assert self._symbols is not None
            self._result = self._body(self._symbols, self.state, self._learning_rate)
            self.set_state(self._result.state)
        return graph
