"""How far a job has come through its text, on a terminal: drawn by bytes, which are known beforehand, told in lines."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

PACKED = (".gz", ".xz", ".zst")


class TextBar:
    """A bar that moves inside a long line too. Quiet where standard error is no terminal, unless `show` says so.

    Without `files`, or where one is a pipe or compressed, no end is in sight. Nothing is drawn for a while (`delay`).
    """

    def __init__(
        self, files: Sequence[str], *, unit: str = "lines", show: bool | None = None, delay: float = 0.0
    ) -> None:
        plain = bool(files) and all(os.path.isfile(path) and not path.endswith(PACKED) for path in files)
        total = sum(map(os.path.getsize, files)) if plain else None
        layout = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}{postfix}]"
        self._bar: tqdm[Any] = tqdm(
            total=total,
            desc=f"0 {unit}",
            bar_format=layout if total else "{desc} [{elapsed}{postfix}]",
            delay=delay,
            disable=None if show is None else not show,
        )
        self._unit = unit
        self._count = self._tokens = 0

    def advance(self, size: float, *, count: int = 0, tokens: int = 0) -> None:
        """So many bytes, lines and tokens more are done."""
        self._count += count
        self._tokens += tokens
        bar = self._bar
        if bar.disable:
            return
        bar.set_description_str(f"{self._count:,} {self._unit}", refresh=False)
        seconds = bar.format_dict["elapsed"]
        if self._tokens and seconds:
            bar.set_postfix_str(f"{self._tokens / seconds:,.0f} tokens/s", refresh=False)
        bar.update(size if bar.total is None else max(0.0, min(size, bar.total - bar.n)))

    def skip(self, size: int, *, count: int) -> None:
        """So much was done by an earlier run; it does not count as speed."""
        if not self._bar.disable:
            self._bar.initial += size
        self.advance(size, count=count)

    def complete(self) -> None:
        """The text is at its end, whatever its line ends were counted as."""
        if not self._bar.disable and self._bar.total is not None:
            self.advance(self._bar.total - self._bar.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.close()
