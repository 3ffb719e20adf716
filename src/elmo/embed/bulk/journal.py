"""Finished parts of a bulk job on disk, so that an interrupted job goes on where it stopped.

A journal is a folder beside the output: `job.json` says what the job is, `lock` keeps other processes off, and
`00000000.part` and so on hold consecutive lines with their vectors (safetensors: flat vectors, lengths, and UTF-8
texts). A part appears under its name only when it is complete. The output is filled from the parts while they are
made, as `output`, and takes its name at the end, so every format is equally safe. Where the output is of a format that
grows at its end, the vectors stand there alone, and a part says up to which byte they do, with a hash of them.

A process may be killed between any two of these steps. What then stands there has one meaning:
- without `job.json` nothing is worth keeping: a run had only begun, or had come to the end of its cleaning-up;
- with it the parts from the first on are finished;
- when it says `finished`, so is the output: it waits as `output`, or else has its name already.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import exists, read_json
from elmo.disk.locking import locked_alone
from elmo.disk.workfiles import Arrays, dumped_arrays, read_about, read_arrays
from elmo.disk.writing import errors_naming, write_file, write_pieces
from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Line
from elmo.errors import ResumeError

JOB_FILE = "job.json"
LOCK_FILE = "lock"
OUTPUT_FILE = "output"
FINISHED = "finished"  # a key of the job
COLUMNS = ("ids", "first_tokens", "sentence_starts", "first_sentences")
_NAMES = re.compile(r"lock|output|job\.json|\d{8}\.part|\.(job\.json|output|\d{8}\.part)\.tmp-[0-9a-f]+")


class Appended(NamedTuple):
    """Where a part stands in an output that grows at its end."""

    kept: bytes  # by what writes the output
    stop: int  # the end of its bytes, which begin where those of the part before end
    sha256: str  # of these bytes


def digest_lines(lines: Sequence[Line]) -> str:
    """Identifies the lines of a part, to notice an input that changed."""
    digest = hashlib.sha256(json.dumps(_runs([line.file for line in lines])).encode("ascii"))
    digest.update(_joined([line.text for line in lines]))
    return digest.hexdigest()


@contextmanager
def journal_in(folder: Path) -> Iterator["Journal"]:
    """The journal in a folder, of this process alone: what an earlier run left, or a new one. An empty one vanishes."""
    if folder.exists() and not (folder.is_dir() and all(_NAMES.fullmatch(path.name) for path in folder.iterdir())):
        raise ResumeError(f"{folder}: is in the way and was not made by `elmo embed`; move it or remove it")
    with errors_naming(folder):
        folder.mkdir(exist_ok=True)
    try:
        with locked_alone(folder / LOCK_FILE, refusal=other_at_work(folder)):
            yield Journal(folder)
    finally:
        if [path.name for path in folder.iterdir()] == [LOCK_FILE]:
            shutil.rmtree(folder, ignore_errors=True)


def other_at_work(folder: Path) -> ResumeError:
    """What is said where another process writes the same output."""
    return ResumeError(f"{folder}: another process is at work on this output; wait for it or end it")


class Journal:
    """The parts of one job, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / OUTPUT_FILE

    def begin(self, job: Mapping[str, Any]) -> None:
        """Start anew: whatever stands here is given up."""
        self.discard()
        self._write_job(job)

    def resume(self, job: Mapping[str, Any]) -> bool:
        """Go on with a job that must be the one begun here. False if none was."""
        written = self.job()
        if written is None:
            return False
        difference = first_difference(written, job)
        if difference is not None:
            raise ResumeError(
                f"{self.folder}: is of an interrupted run, but {difference}; ask for the same, or start again with "
                "--overwrite"
            )
        _unlink(self.folder.glob(".*"))
        return True

    def job(self) -> dict[str, Any] | None:
        """What the job is; None where no job was begun."""
        path = self.folder / JOB_FILE
        if not exists(path):
            return None
        try:
            return read_json(path, refusal=ResumeError)
        except ResumeError as error:
            raise ResumeError(f"{error}; remove {self.folder} and start again") from None

    def finish(self, job: Mapping[str, Any]) -> None:
        """Say that the output is complete; from here on a resumed run only gives it its name."""
        self._write_job({**job, FINISHED: True})

    def discard(self) -> None:
        """Give up what is here: first of all the word that it is worth something."""
        _unlink([self.folder / JOB_FILE])
        self._remove_parts()

    def clean_up(self) -> None:
        """Delete what a finished job needs no longer, the word that it is finished last of all."""
        self._remove_parts()
        _unlink([self.folder / JOB_FILE])

    def _remove_parts(self) -> None:
        # Parts from the last to the first, so that those which are left begin with the first.
        _unlink([*self.folder.glob(".*"), self.output, *sorted(self.folder.glob("*.part"), reverse=True)])

    def _write_job(self, job: Mapping[str, Any]) -> None:
        write_file(self.folder / JOB_FILE, json.dumps(job, indent=2, sort_keys=True).encode("utf-8"))

    def __len__(self) -> int:
        """How many parts stand complete from the first on."""
        count = 0
        while self._path(count).is_file():
            count += 1
        return count

    def append(
        self,
        part: EmbeddedPart,
        *,
        lines_digest: str,
        carried: Mapping[str, npt.NDArray[Any]] | None = None,
        appended: Appended | None = None,
    ) -> None:
        """Write the next part; `carried` is the state to go on with. One that is `appended` leaves its vectors out."""
        files = json.dumps(_runs([line.file for line in part.lines])).encode("ascii")
        arrays: Arrays = {
            "lines": np.array([(line.number, line.line) for line in part.lines], dtype=np.int64),  # [N, 2]
            "files": np.frombuffer(files, dtype=np.uint8),
            "texts": np.frombuffer(_joined([line.text for line in part.lines]), dtype=np.uint8),
            "words": np.frombuffer(_joined(part.words), dtype=np.uint8),
            **{name: getattr(part, name) for name in COLUMNS},
            "vectors": part.vectors if appended is None else np.zeros(0, np.float32),
        }
        if appended is not None:
            arrays["kept"] = np.frombuffer(appended.kept, dtype=np.uint8)
        for name, array in (carried or {}).items():
            arrays[f"carried.{name}"] = np.ascontiguousarray(array)
        about: dict[str, Any] = {"lines_sha256": lines_digest, "pooled": part.pooled}
        if appended is not None:
            about["output"] = [appended.stop, appended.sha256]
        write_pieces(self._path(len(self)), dumped_arrays(arrays, about))

    def check(self, part: int, lines: Sequence[Line]) -> None:
        """Refuse to go on when the input's lines are not those the part was made from."""
        found = read_about(self._path(part), refusal=ResumeError).get("lines_sha256")
        if found != digest_lines(lines):
            raise ResumeError(
                f"{self.folder}: the input has changed since the interrupted run (part {part} was made from other "
                "lines); start again with --overwrite"
            )

    def carried(self, part: int) -> dict[str, npt.NDArray[Any]]:
        """The state that a part handed on."""
        stored, _ = self._read(part)
        return {name.removeprefix("carried."): stored[name] for name in stored if name.startswith("carried.")}

    def parts(self, count: int) -> Iterator[tuple[EmbeddedPart, Appended | None]]:
        """The first `count` parts, in input order, one in memory at a time."""
        for number in range(count):
            arrays, about = self._read(number)
            names = [file for file, times in json.loads(arrays["files"].tobytes()) for _ in range(times)]
            texts, words = (_split(arrays[name].tobytes()) for name in ("texts", "words"))
            lines = [
                Line(n, text, file, line)
                for (n, line), text, file in zip(arrays["lines"].tolist(), texts, names, strict=True)
            ]
            columns: dict[str, Any] = {name: arrays[name] for name in (*COLUMNS, "vectors")}
            part = EmbeddedPart(
                lines=lines, words=words if len(arrays["ids"]) else [], pooled=about["pooled"], **columns
            )
            appended = None
            if "output" in about:
                stop, sha256 = about["output"]
                appended = Appended(kept=arrays["kept"].tobytes(), stop=stop, sha256=sha256)
            yield part, appended

    def _path(self, part: int) -> Path:
        return self.folder / f"{part:08d}.part"

    def _read(self, part: int) -> tuple[Arrays, dict[str, Any]]:
        """The arrays of a part, exactly as they were written, and what was told of it."""
        try:
            return read_arrays(self._path(part), refusal=ResumeError)
        except ResumeError as error:
            raise ResumeError(f"{error}; start again with --overwrite") from None


def _joined(texts: Sequence[str]) -> bytes:
    """Texts without line ends, as lines and their words are."""
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def _split(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogatepass").split("\n")


def _runs(files: Sequence[str | None]) -> list[tuple[str | None, int]]:
    """Each file once, with the number of lines that follow each other in it."""
    return [(file, len(list(lines))) for file, lines in groupby(files)]


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        with errors_naming(path):
            path.unlink(missing_ok=True)
