"""What formats have in common whose files grow at their end: parts stand there as they will in the finished file.

So an interrupted job needs no second copy of its vectors: its output is what it goes on from.
"""

import contextlib
from abc import ABC, abstractmethod
from typing import BinaryIO, NamedTuple

from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape


class Standing(NamedTuple):
    """A part that stands in the file already."""

    part: EmbeddedPart  # without its vectors
    kept: bytes  # what `write` gave
    stop: int  # the end of its bytes


class Appender(ABC):
    """A file that is open at its beginning, and written from there on.

    Made on a file that holds parts already, it first takes each of them by `restore`, and goes on behind the last.
    """

    def __init__(self, file: BinaryIO, shape: Shape) -> None:
        self._file = file
        self._shape = shape
        self._opened = contextlib.ExitStack()  # what is needed for writing

    @abstractmethod
    def write(self, part: EmbeddedPart) -> bytes:
        """Append a part. What comes back is asked for again by `restore`."""

    @abstractmethod
    def restore(self, standing: Standing) -> None:
        """Take a part for written."""

    @abstractmethod
    def finish(self) -> None:
        """Write what stands at the end of the file. The file is closed by whoever opened it."""

    def close(self) -> None:
        """Give back what was needed for writing, whether the file is finished or not."""
        self._opened.close()
