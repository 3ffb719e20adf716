"""Finished parts of a bulk job on disk, so that an interrupted job goes on where it stopped.

A journal is a folder beside the output: `job.json` says what the job is, `lock` keeps other processes off, and
`00000000.part` and so on hold consecutive lines with their vectors (safetensors: flat vectors, lengths, and UTF-8
texts). A part appears under its name only when it is complete. The output file is filled from the parts while they are
made and takes its name at the end, so every format is equally safe.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from elmo.embed.rows import Row
from elmo.errors import ResumeError
from elmo.text.locking import locked
from elmo.text.writing import errors_naming, write_file

JOB_FILE = "job.json"
LOCK_FILE = "lock"


def digest_lines(lines: Sequence[str]) -> str:
    """Identifies the lines of a part, to notice an input that changed."""
    digest = hashlib.sha256()
    for line in lines:
        data = line.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@contextmanager
def journal_of(folder: Path, job: Mapping[str, Any], *, resume: bool) -> Iterator["Journal"]:
    """The journal of `job`, of this process alone: a new one, or with `resume` the one that an interrupted run left."""
    found = folder.exists()
    if found and not resume and not (folder / JOB_FILE).is_file() and any(folder.iterdir()):
        raise ResumeError(f"{folder}: is in the way and was not made by `elmo embed`; move it or remove it")
    with errors_naming(folder):
        folder.mkdir(exist_ok=True)
    try:
        with locked(folder / LOCK_FILE, busy=lambda: _refuse(folder)):
            if found and resume:
                _compare_jobs(folder, job)
            journal = Journal(folder)
            journal.remove(".*" if resume else "*")
            if not (found and resume):
                write_file(folder / JOB_FILE, json.dumps(job, indent=2, sort_keys=True).encode("utf-8"))
            yield journal
    finally:
        if [path.name for path in folder.iterdir()] == [LOCK_FILE]:
            shutil.rmtree(folder, ignore_errors=True)


def _refuse(folder: Path) -> None:
    raise ResumeError(f"{folder}: another process is at work on this output; wait for it or end it")


def _compare_jobs(folder: Path, job: Mapping[str, Any]) -> None:
    path = folder / JOB_FILE
    try:
        written = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ResumeError(f"{path}: cannot be read ({error}); remove {folder} and start again") from error
    for key, value in job.items():
        if written.get(key) != value:
            raise ResumeError(
                f"{folder}: the interrupted run had {key} = {written.get(key)!r}, this one has {value!r}; "
                "ask for the same, or start again with --overwrite"
            )


class Journal:
    """The parts of one job, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __len__(self) -> int:
        """How many parts stand complete from the first on."""
        count = 0
        while self._path(count).is_file():
            count += 1
        return count

    def append(
        self,
        rows: Sequence[Row],
        *,
        lines_digest: str,
        carried: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        """Write the next part; `carried` is the state to go on with."""
        texts = json.dumps([[row.text, row.tokens, row.sentence_starts] for row in rows]).encode("ascii")
        tensors: dict[str, npt.NDArray[Any]] = {
            "lines": np.array([row.line for row in rows], dtype=np.int64),
            "texts": np.frombuffer(texts, dtype=np.uint8),
            "shapes": np.array([row.vectors.shape for row in rows], dtype=np.int64),
            "vectors": np.concatenate([row.vectors.ravel() for row in rows]) if rows else np.zeros(0, np.float32),
        }
        for name, array in (carried or {}).items():
            tensors[f"carried.{name}"] = np.ascontiguousarray(array)
        data = safetensors.numpy.save(tensors, metadata={"lines_sha256": lines_digest})
        write_file(self._path(len(self)), data)

    def check(self, part: int, lines: Sequence[str]) -> None:
        """Refuse to go on when the input's lines are not those the part was made from."""
        with self._open(part) as stored:
            found = (stored.metadata() or {}).get("lines_sha256")
        if found != digest_lines(lines):
            raise ResumeError(
                f"{self.folder}: the input has changed since the interrupted run (part {part} was made from other "
                "lines); start again with --overwrite"
            )

    def carried(self, part: int) -> dict[str, npt.NDArray[Any]]:
        """The state that a part handed on."""
        with self._open(part) as stored:
            names = [name for name in stored.keys() if name.startswith("carried.")]  # noqa: SIM118
            return {name.removeprefix("carried."): stored.get_tensor(name) for name in names}

    def rows(self, parts: int) -> Iterator[Row]:
        """Every row of the first `parts` parts, in input order, one part in memory at a time."""
        for part in range(parts):
            with self._open(part) as stored:
                tensors = {name: stored.get_tensor(name) for name in ("lines", "texts", "shapes", "vectors")}
            texts = json.loads(tensors["texts"].tobytes())
            start = 0
            for line, (text, tokens, starts), shape in zip(
                tensors["lines"].tolist(), texts, tensors["shapes"].tolist(), strict=True
            ):
                size = int(np.prod(shape))
                vectors = tensors["vectors"][start : start + size].reshape(shape)
                start += size
                yield Row(line=line, text=text, tokens=tokens, sentence_starts=starts, vectors=vectors)

    def remove(self, pattern: str = "*") -> None:
        """Delete what the journal holds: all of it when its output is complete."""
        for path in self.folder.glob(pattern):
            if path.name != LOCK_FILE:
                path.unlink()

    def _path(self, part: int) -> Path:
        return self.folder / f"{part:08d}.part"

    def _open(self, part: int) -> Any:
        return safetensors.safe_open(self._path(part), framework="numpy")
