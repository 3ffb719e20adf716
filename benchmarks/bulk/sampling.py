"""Where the threads of this process are, looked at every few milliseconds: a profile that changes nothing."""

import sys
import threading
import time
from collections import Counter
from types import FrameType, TracebackType


class Sampler:
    """Counts, for each thread, the functions in which it is found, with the lines of the package that called them."""

    def __init__(self, *, seconds: float = 0.002) -> None:
        self._seconds = seconds
        self._found: Counter[tuple[str, str]] = Counter()
        self._samples = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="sampler", daemon=True)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def report(self, *, least: float = 0.03) -> str:
        """A line for each place that took at least such a share of the time."""
        lines = [f"  {self._samples} looks"]
        for (thread, place), count in self._found.most_common():
            if count >= least * self._samples:
                lines.append(f"  {count / self._samples:6.1%} {thread:24s} {place}")
        return "\n".join(lines)

    def _look(self) -> None:
        own = threading.get_ident()
        while not self._ended.is_set():
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            for ident, frame in sys._current_frames().items():
                if ident != own:
                    self._found[names.get(ident, "?").rstrip("0123456789"), _place(frame)] += 1
            self._samples += 1
            time.sleep(self._seconds)


def _place(frame: FrameType | None) -> str:
    """The innermost frame, and the two innermost of the package."""
    assert frame is not None
    places = [_name(frame)]
    found = 0
    at: FrameType | None = frame.f_back
    while at is not None and found < 2:
        if "elmo" in at.f_code.co_filename:
            places.append(_name(at))
            found += 1
        at = at.f_back
    return " < ".join(places)


def _name(frame: FrameType) -> str:
    file = frame.f_code.co_filename.rsplit("/", 1)[-1]
    return f"{file}:{frame.f_lineno} {frame.f_code.co_name}"
