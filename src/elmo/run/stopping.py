"""Asking a run to stop: Ctrl-C, SIGTERM, or a time limit. The run finishes its step, saves, and says how to go on."""

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Literal

Reason = Literal["interrupted", "time limit"]


class StopRequest:
    """A context in which the signals set a flag. A second Ctrl-C is a KeyboardInterrupt as ever."""

    def __init__(self, *, time_limit: float | None = None) -> None:
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._signalled = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():  # Python allows handlers nowhere else
            self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def reason(self, *, reserve: float = 0.0) -> Reason | None:
        """Why to stop now, if so; `reserve` is the time that saving will take."""
        if self._signalled:
            return "interrupted"
        if self._deadline is not None and time.monotonic() + reserve >= self._deadline:
            return "time limit"
        return None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._signalled and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        self._signalled = True
