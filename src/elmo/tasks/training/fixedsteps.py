"""`FixedSteps`: training steps in a few fixed shapes, for which nothing on the host waits; on a GPU as CUDA graphs.

The texts of a batch are padded to a shape that other batches have too. A shape that comes again is recorded, and from
then on such a step is one launch instead of thousands. Whether it is recorded or not, a step computes the same: what a
run learns does not depend on which shapes came first. All that an update needs stands in fixed places on the device.

A loss that says that it is not sound (a CRF that lost a path) must not be learned from, and the host should not wait to
hear of it. So from such a step on no update is made on the device, until `settle` finds out, and takes those steps anew
with the loss that is always right. The numbers of a step depend on nothing but its number and the weights, so that it
makes no difference when that is.

N examples of a step, T tokens of a text.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo.disk.guarded.plainfiles import one_line
from elmo.ops.device import to_device
from elmo.ops.gpu.recording import recording
from elmo.tasks.ragged import Integers

logger = logging.getLogger(__name__)

Shape = tuple[int, ...]  # tokens of each text

SEEN_BEFORE = 3  # times, before a shape is recorded, which takes as long as several steps; the first one compiles
MOST_GRAPHS = 16
MOST_POSITIONS = 16384  # tokens of a step, padding included: what a step takes of memory grows with it
SETTLE_AFTER = 256  # steps
LEAST_UNIT, LEAST_UNIT_OF_PAIRS = 8, 16  # two texts have many more shapes
UNITS = 8  # steps from a length to its double


class Body(NamedTuple):
    """What a step does: of rows [N] on the device in a shape, with `checked` by the loss that is always right.

    `learn` gives the loss, and makes the update where `broken`, which it is given, does not become 1.
    """

    learn: Callable[[Tensor, Shape, Tensor, bool], Tensor]  # -> [], the loss
    seed: Callable[[int], None]  # what a step draws from, by the number of the step
    set_rate: Callable[[int], None]  # of learning, for the number of a step


class Taken(NamedTuple):
    """A step that has not been looked at."""

    rows: Integers
    step: int
    shape: Shape
    result: Tensor  # [2]: its loss, and 1 where it or one before it was not sound


class FixedSteps:
    """Steps of `size` examples or fewer; those of `size` may be recorded."""

    def __init__(self, body: Body, *, size: int, device: torch.device, record: bool) -> None:
        self._body, self._size, self._device = body, size, device
        self._broken = torch.zeros((), device=device)
        self._rows = torch.zeros(size, dtype=torch.int64, device=device)
        self._seen: Counter[Shape] = Counter()
        self._graphs: dict[Shape, _Graph] = {}
        self._pool: Any = None  # a handle of torch's: graphs share their memory, since no two of them run at once
        self._record_more = record
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._taken: list[Taken] = []

    @property
    def recorded(self) -> list[Shape]:
        """The shapes that are graphs by now."""
        return sorted(self._graphs)

    def __call__(self, rows: Integers, shape: Shape, step: int) -> Tensor:
        """Learn from some examples; the loss, on the device, which may change until `settle` was called."""
        self._body.seed(step)
        self._body.set_rate(step)
        if len(rows) == self._size and self._is_worth_recording(shape):
            self._record(shape)
        graph = self._graphs.get(shape) if len(rows) == self._size else None
        if graph is None:
            result = self._run(to_device(torch.from_numpy(rows), self._device), shape)
        else:
            self._rows.copy_(torch.from_numpy(rows).pin_memory(), non_blocking=True)
            graph.graph.replay()
            result = graph.result.clone()
        self._taken.append(Taken(rows, step, shape, result))
        if len(self._taken) >= SETTLE_AFTER:
            self.settle()
        return result[0]

    def settle(self) -> None:
        """Wait for all steps taken, and take those anew that were not sound, with all that came after them."""
        taken, self._taken = self._taken, []
        if not taken:
            return
        broken = torch.stack([one.result[1] for one in taken]).tolist()
        if not any(broken):
            return
        first = broken.index(1.0)
        logger.info("step %d is taken anew with a loss that loses no path", taken[first].step)
        self._broken.zero_()
        for one in taken[first:]:
            self._body.seed(one.step)
            self._body.set_rate(one.step)
            one.result.copy_(self._run(to_device(torch.from_numpy(one.rows), self._device), one.shape, checked=True))

    def _learn(self, rows: Tensor, shape: Shape, *, checked: bool = False) -> Tensor:
        loss = self._body.learn(rows, shape, self._broken, checked)
        return torch.stack([loss.detach().float(), self._broken])

    def _run(self, rows: Tensor, shape: Shape, *, checked: bool = False) -> Tensor:
        """Not recorded, but on the stream that records, as torch wants it."""
        if self._stream is None:
            return self._learn(rows, shape, checked=checked)
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            result = self._learn(rows, shape, checked=checked)
        current.wait_stream(self._stream)
        return result

    def _is_worth_recording(self, shape: Shape) -> bool:
        self._seen[shape] += 1
        if not self._record_more or shape in self._graphs or len(self._graphs) >= MOST_GRAPHS:
            return False
        return self._seen[shape] > SEEN_BEFORE

    def _record(self, shape: Shape) -> None:
        assert self._stream is not None
        graph = torch.cuda.CUDAGraph()
        try:
            with recording(graph, stream=self._stream, pool=self._pool):
                result = self._learn(self._rows, shape)
        except (torch.OutOfMemoryError, RuntimeError) as error:
            self._record_more = False
            logger.info("no more steps are recorded as CUDA graphs, which makes them slower: %s", one_line(error))
            logger.debug("where", exc_info=True)
            del graph
            torch.cuda.empty_cache()
            # A recording that was broken off leaves torch's generator believing in it; a whole one sets it right.
            with recording(torch.cuda.CUDAGraph(), stream=self._stream):
                torch.zeros((), device=self._device)
            return
        self._pool = graph.pool()
        self._graphs[shape] = _Graph(graph, result)


class _Graph(NamedTuple):
    graph: torch.cuda.CUDAGraph
    result: Tensor


def fixed_shape(lengths: Sequence[Integers]) -> Shape | None:
    """The shape for texts of these lengths, those of each text of an example together; None if it is too large."""
    least = LEAST_UNIT if len(lengths) == 1 else LEAST_UNIT_OF_PAIRS
    shape = tuple(_rounded(int(own.max(initial=1)), least=least) for own in lengths)
    return shape if len(lengths[0]) * sum(shape) <= MOST_POSITIONS else None


def _rounded(length: int, *, least: int) -> int:
    unit = least
    while unit * UNITS < length:
        unit *= 2
    return -(-length // unit) * unit
