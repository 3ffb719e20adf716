"""Finished parts into the journal and into the output, and again out of them, where an earlier run has left some."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy.typing as npt

from elmo.embed.bulk.journal import Appended, Journal
from elmo.embed.bulk.writers.appender import Appender, Standing
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.errors import ResumeError

CHUNK_BYTES = 1 << 20


class Finished(NamedTuple):
    """What is kept of a finished part."""

    part: EmbeddedPart
    lines_digest: str
    carried: Mapping[str, npt.NDArray[Any]]  # the state to go on with


def kept_parts(journal: Journal, finished: Iterator[Finished], done: int) -> Iterator[EmbeddedPart]:
    """All parts, for an output that is written from its beginning: those of the journal, and new ones kept there."""
    for part, _ in journal.parts(done):
        yield part
    for part, lines_digest, carried in finished:
        journal.append(part, lines_digest=lines_digest, carried=carried)
        yield part


def append_parts(
    journal: Journal, finished: Iterator[Finished], done: int, make: Callable[[BinaryIO], Appender]
) -> None:
    """Go on behind the parts that the output has, and keep of new ones where they stand in it."""
    if done and not journal.output.is_file():
        raise ResumeError(f"{journal.output}: is not there, but was begun; start again with --overwrite")
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(open(journal.output, "rb+" if done else "wb"))
        output = opened.enter_context(contextlib.closing(_Hashed(file)))
        appender = opened.enter_context(contextlib.closing(make(output)))  # type: ignore[arg-type]  # enough of a file
        for number, (part, appended) in enumerate(journal.parts(done)):
            if appended is None:
                raise ResumeError(f"{journal.folder}: part {number} has no place in the output; use --overwrite")
            output.check(appended)
            appender.restore(Standing(part, appended.kept, appended.stop))
        file.truncate()
        for part, lines_digest, carried in finished:
            kept = appender.write(part)
            output.flush()
            os.fsync(file.fileno())  # before it is said to be there
            appended = Appended(kept=kept, stop=file.tell(), sha256=output.digest())
            journal.append(part, lines_digest=lines_digest, carried=carried, appended=appended)
        appender.finish()
        file.flush()
        os.fsync(file.fileno())


class _Hashed:
    """A file that is written, with a hash of what has been written since it was asked for the last time.

    A thread of its own hashes, which takes as long as to write.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="elmo-hash")
        self.name = file.name
        self.seek, self.tell, self.flush = file.seek, file.tell, file.flush

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if view.nbytes:
            self._thread.submit(self._sha256.update, view.cast("B"))
        return self._file.write(view)

    def digest(self) -> str:
        found = self._thread.submit(self._sha256.hexdigest).result()
        self._sha256 = hashlib.sha256()
        return found

    def check(self, appended: Appended) -> None:
        """Go to the end of a part whose bytes come next, if they are those that were written."""
        left = appended.stop - self._file.tell()
        while left > 0 and (data := self._file.read(min(CHUNK_BYTES, left))):
            self._thread.submit(self._sha256.update, data).result()
            left -= len(data)
        if left or self.digest() != appended.sha256:
            raise ResumeError(f"{Path(self.name)}: is not what was written there; start again with --overwrite")

    def close(self) -> None:
        self._thread.shutdown()
