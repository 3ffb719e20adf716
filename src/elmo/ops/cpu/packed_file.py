"""`PackedFile`: packed matrices in one file, so that the next process maps what this one made, and copies nothing."""

import logging
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elmo.disk.cachefolder import make_private, why_not_private
from elmo.disk.writing import write_atomically
from elmo.errors import ElmoError
from elmo.ops.cpu.memory import ALIGNMENT, aligned_bytes

logger = logging.getLogger(__name__)

Bytes = npt.NDArray[np.uint8]
END = b"elmo packed 1".ljust(ALIGNMENT, b"\0")  # behind everything, so that a file cut short is not taken for whole


class PackedFile:
    """Blocks of bytes in the order in which they are asked for: mapped if the file is there, else made and then kept.

    Who chooses the path sees to it that other weights, another precision or another machine have another one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mapped = _map(path)
        self._made: list[Bytes] = []
        self._offset = 0

    @property
    def is_mapped(self) -> bool:
        """Whether the blocks come from the file."""
        return self._mapped is not None

    def take(self, size: int, make: Callable[[Bytes], None]) -> Bytes:
        """The next block of so many bytes; `make` fills it where the file does not have it."""
        if self._mapped is None:
            data = aligned_bytes(size)
            make(data)
            self._made.append(data)
            return data
        start, self._offset = self._offset, self._offset + _padded(size)
        if self._offset > len(self._mapped) - len(END):
            raise ElmoError(f"{self.path}: ends too early; remove it, and it is made anew")
        return self._mapped[start : start + size]

    def keep(self) -> None:
        """Write what was made, in a thread of its own; a disk that refuses costs nothing but the next start."""
        if self._made:
            threading.Thread(target=self._write, args=(self._made,), name="elmo-packed").start()
            self._made = []

    def _write(self, blocks: list[Bytes]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with write_atomically(self.path) as file:
                make_private(Path(file.name))
                for block in blocks:
                    file.write(block.data)
                    file.write(bytes(_padded(len(block)) - len(block)))
                file.write(END)
        except (OSError, ElmoError) as error:
            logger.info("packed weights are not kept: %s", error)


def _map(path: Path) -> Bytes | None:
    try:
        found = path.stat()
        if why_not_private(path) is not None or not stat.S_ISREG(found.st_mode):  # a pipe would be waited for
            return None  # it is made anew
        size = found.st_size
        with open(path, "rb") as file:
            file.seek(max(0, size - len(END)))
            if file.read() != END:
                return None
        return np.memmap(path, dtype=np.uint8, mode="c").view(np.ndarray)
    except (OSError, ValueError):
        return None


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
