"""Which outputs are finished, and of which job: a small record in the cache folder for each, so that `--resume` knows.

An output that was changed since, or that another job or program made, has no record that fits it.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo.disk.cachefolder import cache_directory
from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import read_json
from elmo.disk.writing import write_file
from elmo.errors import ElmoError, ResumeError

FOLDER = "finished"
MOST_RECORDS = 1000


def facts_of(files: Sequence[str]) -> dict[str, list[int] | None]:
    """Size and time of the last change of each file, to notice a text that is another one now; None: no file."""
    found: dict[str, list[int] | None] = {}
    for file in files:
        path = Path(file).resolve()
        found[str(path)] = [path.stat().st_size, path.stat().st_mtime_ns] if path.is_file() else None
    return found


def remember_finished(written: Path, output: Path, job: Mapping[str, Any]) -> None:
    """Record that `written` is what the job makes, before it takes the name of `output`. Goes without, if it must."""
    record = _record_of(output)
    with contextlib.suppress(OSError, ElmoError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_file(record, json.dumps({"job": job, "file": _stamp(written)}).encode("utf-8"))
        records = sorted(record.parent.glob("*.json"), key=os.path.getmtime)
        for old in records[:-MOST_RECORDS]:
            old.unlink(missing_ok=True)


def require_finished(output: Path, job: Mapping[str, Any]) -> None:
    """Refuse an output that is not known to be what the job makes."""
    try:
        record = read_json(_record_of(output), refusal=ResumeError)
    except ResumeError:
        record = {}
    if record.get("file") != _stamp(output) or not isinstance(record.get("job"), dict):
        why = "is not known to be what this job makes"
    else:
        difference = first_difference(record["job"], job)
        if difference is None:
            return
        why = f"is of another job: {difference}"
    raise ResumeError(f"{output}: exists already and {why}; choose another name or add --overwrite")


def _stamp(path: Path) -> list[int]:
    facts = path.stat()
    return [facts.st_size, facts.st_mtime_ns]


def _record_of(output: Path) -> Path:
    name = hashlib.sha256(os.fsencode(output.resolve())).hexdigest()
    return cache_directory() / FOLDER / f"{name}.json"
