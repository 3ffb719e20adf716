"""Finished parts into the journal and into the output, and again out of them, where an earlier run has left some."""

import contextlib
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy.typing as npt

from elmo.embed.bulk.journal import Appended, Journal
from elmo.embed.bulk.writers.appender import Appender, Standing
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.errors import ResumeError

CHUNK_BYTES = 1 << 20
MOST_UNDER_WAY = 64  # pieces that wait to be written and hashed


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
        output = opened.enter_context(contextlib.closing(_Written(file)))
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
        output.flush()
        os.fsync(file.fileno())


class _Written:
    """A file that is written, with a hash of what has been written since it was asked for the last time.

    Two threads of its own write and hash, each of which takes as long as to make the content. What is given to `write`
    must stay as it is until `flush`, which raises what has gone wrong.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="elmo-write")
        self._hashing = ThreadPoolExecutor(1, thread_name_prefix="elmo-hash")
        self._under_way: deque[tuple[Future[int], Future[None]]] = deque()
        self.name = file.name

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if view.nbytes:
            view = view.cast("B")
            written = self._writing.submit(self._file.write, view)
            self._under_way.append((written, self._hashing.submit(self._sha256.update, view)))
            self._wait(most=MOST_UNDER_WAY)
        return view.nbytes

    def flush(self) -> None:
        self._wait(most=0)
        self._file.flush()

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        self.flush()
        return self._file.seek(place, whence)

    def tell(self) -> int:
        self.flush()
        return self._file.tell()

    def digest(self) -> str:
        self.flush()
        found = self._sha256.hexdigest()
        self._sha256 = hashlib.sha256()
        return found

    def check(self, appended: Appended) -> None:
        """Go to the end of a part whose bytes come next, if they are those that were written."""
        left = appended.stop - self.tell()
        while left > 0 and (data := self._file.read(min(CHUNK_BYTES, left))):
            self._sha256.update(data)
            left -= len(data)
        if left or self.digest() != appended.sha256:
            raise ResumeError(f"{Path(self.name)}: is not what was written there; start again with --overwrite")

    def close(self) -> None:
        self._writing.shutdown()
        self._hashing.shutdown()

    def _wait(self, *, most: int) -> None:
        """Until no more than so many pieces are under way."""
        while len(self._under_way) > most:
            for task in self._under_way.popleft():
                task.result()
