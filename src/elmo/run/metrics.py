"""The metrics of a run: `metrics.jsonl`, one JSON object a line, and TensorBoard where it is installed."""

import json
import logging
from pathlib import Path
from types import TracebackType
from typing import Any

from elmo.disk.guarded.plainfiles import parse_json, read_bytes
from elmo.disk.writing import errors_naming, write_atomically
from elmo.errors import ResumeError
from elmo.run.tensorboard import Board, has_tensorboard

logger = logging.getLogger(__name__)

FILE, TENSORBOARD = "metrics.jsonl", "tensorboard"
MOST_BYTES = 1 << 30  # a line of some hundred bytes every few steps


class Metrics:
    """A writer. When a run goes on from a step, what was recorded after that step is dropped."""

    def __init__(self, run: Path, *, after_step: int = 0, tensorboard: bool | None = None) -> None:
        self.path = run / FILE
        kept = [line for line in read_metrics(run) if line["step"] <= after_step] if after_step else []
        with write_atomically(self.path) as file:
            file.write("".join(json.dumps(line) + "\n" for line in kept).encode())
        self._folder = run / TENSORBOARD if has_tensorboard(wanted=tensorboard) else None
        self._open(after_step)

    def write(self, kind: str, step: int, values: dict[str, Any]) -> None:
        """One line; numbers go to TensorBoard too."""
        if not self.path.exists():
            logger.warning("%s: was deleted while the run writes to it; it is begun anew at step %d", self.path, step)
            self._close()
            with errors_naming(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open(step - 1)
        with errors_naming(self.path):
            self._file.write(json.dumps({"kind": kind, "step": step, **values}) + "\n")
            self._file.flush()
            if self._board is not None:
                for name, value in values.items():
                    if isinstance(value, int | float):
                        self._board.add_scalar(f"{kind}/{name}", value, step)

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _open(self, after_step: int) -> None:
        with errors_naming(self.path):
            self._board = None if self._folder is None else Board(self._folder, after_step=after_step)
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 - closed by __exit__

    def _close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """All lines of a run; a last line that was cut off in the middle is left out."""
    path = run / FILE
    if not path.is_file():
        return []
    lines = []
    for text in read_bytes(path, most_bytes=MOST_BYTES, refusal=ResumeError).splitlines():
        try:
            line = parse_json(text, where=str(path), finite=False, refusal=ResumeError)
        except ResumeError:
            line = {}
        if isinstance(line.get("kind"), str) and type(line.get("step")) is int:
            lines.append(line)
        else:
            logger.warning("%s: a line is not JSON with a kind and a step and is left out: %.40r", path, text)
    return lines
