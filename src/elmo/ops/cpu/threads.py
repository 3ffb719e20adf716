"""How many threads the CPU's kernels use: what a call asks for, else what torch was told, else one a core."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

VARIABLE = "OMP_NUM_THREADS"
SYSTEM = Path("/sys/devices/system/cpu")


class CpuThreads:
    """The number of threads, which each thread that calls may set for the time of a call."""

    def __init__(self) -> None:
        self._asked = threading.local()

    @property
    def count(self) -> int:
        """Threads that a kernel may use now."""
        asked: int | None = getattr(self._asked, "count", None)
        if asked is not None:
            return asked
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "get_num_threads"):  # `torch.set_num_threads` counts for us too
            return int(torch.get_num_threads())
        return default_threads()

    @contextmanager
    def set_to(self, count: int | None) -> Iterator[None]:
        """Use `count` threads in this thread's calls; None changes nothing."""
        before = getattr(self._asked, "count", None)
        self._asked.count = before if count is None else count
        try:
            yield
        finally:
            self._asked.count = before


@cache
def default_threads() -> int:
    """OMP_NUM_THREADS where it is set, else one for each core that this process may use, not for each half."""
    with suppress(ValueError):
        asked = int(os.environ.get(VARIABLE, "").split(",")[0])
        if asked > 0:
            return asked
    try:
        processors = sorted(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1
    return len({_core(number) for number in processors})


def _core(number: int) -> str:
    """What the halves of a core have in common."""
    topology = SYSTEM / f"cpu{number}" / "topology"
    try:
        return " ".join((topology / name).read_text("ascii").strip() for name in ("physical_package_id", "core_id"))
    except (OSError, ValueError):
        return f"processor {number}"


CPU_THREADS = CpuThreads()
