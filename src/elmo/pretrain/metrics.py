"""The metrics of a run: `metrics.jsonl`, one JSON object a line, and TensorBoard where it is installed."""

import importlib.util
import json
import logging
from pathlib import Path
from types import TracebackType
from typing import Any

from elmo.errors import MissingExtraError
from elmo.text.writing import write_atomically

logger = logging.getLogger(__name__)

FILE, TENSORBOARD = "metrics.jsonl", "tensorboard"


class Metrics:
    """A writer. When a run goes on from a step, what was recorded after that step is dropped."""

    def __init__(self, run: Path, *, after_step: int = 0, tensorboard: bool | None = None) -> None:
        self.path = run / FILE
        kept = [line for line in read_metrics(run) if line["step"] <= after_step] if after_step else []
        with write_atomically(self.path) as file:
            file.write("".join(json.dumps(line) + "\n" for line in kept).encode())
        self._board = _open_tensorboard(run / TENSORBOARD, after_step, wanted=tensorboard)
        self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 - closed by __exit__

    def write(self, kind: str, step: int, values: dict[str, Any]) -> None:
        """One line; numbers go to TensorBoard too."""
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
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """All lines of a run; a last line that was cut off in the middle is left out."""
    path = run / FILE
    if not path.is_file():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            logger.warning("%s: a line is not JSON and is left out: %.40r", path, text)
    return lines


def _open_tensorboard(folder: Path, after_step: int, *, wanted: bool | None) -> Any:
    if wanted is False:
        return None
    if importlib.util.find_spec("tensorboard") is None:
        if wanted:
            raise MissingExtraError("TensorBoard is not installed; install it with: pip install tensorboard")
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder), purge_step=after_step + 1 if after_step else None)
