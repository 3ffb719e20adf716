"""Scalars for TensorBoard, written where they come from: no thread of its own, that could fail unseen."""

import importlib.util
import os
import socket
import time
from pathlib import Path
from typing import Any

from elmo.errors import MissingExtraError

VERSION = "brain.Event:2"  # of the file format


class Board:
    """An event file. What an earlier one has after `after_step` is not shown any more."""

    def __init__(self, folder: Path, *, after_step: int = 0) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event: Any = Event
        folder.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads the files of a folder in the order of their names, and looks for "tfevents".
        name = f"events.out.tfevents.{time.time_ns():020d}.{socket.gethostname()}.{os.getpid()}"
        self._file = open(folder / name, "xb")  # noqa: SIM115 - closed by `close`
        self._records = RecordWriter(self._file)
        self._write(file_version=VERSION)
        if after_step:
            self._write(step=after_step + 1, session_log=SessionLog(status=SessionLog.START))

    def add_scalar(self, name: str, value: float, step: int) -> None:
        """One number; in the file when this returns."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        self._write(step=step, summary=Summary(value=[Summary.Value(tag=name, simple_value=value)]))

    def close(self) -> None:
        """Nothing comes after this."""
        self._file.close()

    def _write(self, **fields: Any) -> None:
        event = self._event(wall_time=time.time(), **fields)
        self._records.write(event.SerializeToString())
        self._file.flush()


def has_tensorboard(*, wanted: bool | None) -> bool:
    """Whether to write for it: where it is installed, unless told otherwise."""
    if wanted is False:
        return False
    installed = importlib.util.find_spec("tensorboard") is not None
    if wanted and not installed:
        raise MissingExtraError("TensorBoard is not installed; install it with: pip install tensorboard")
    return installed
