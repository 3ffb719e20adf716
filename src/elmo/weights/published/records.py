"""What is known of each downloaded file, and who may fetch it. No network here."""

import contextlib
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

from elmo.disk.cachefolder import VARIABLE
from elmo.disk.guarded.plainfiles import read_json
from elmo.disk.locking import locked
from elmo.disk.writing import write_file
from elmo.errors import WeightsError

logger = logging.getLogger(__name__)

RECORD_SUFFIX = ".record.json"


def recorded_sha256(path: Path) -> str | None:
    """The hash that a file of the cache had when it was first seen."""
    record = _record_of(path)
    if not record.is_file():
        return None
    found = read_json(record).get("sha256")
    return found if isinstance(found, str) else None


def record_sha256(path: Path, sha256: str, *, source: str) -> None:
    """Keep the hash of a file, and where it came from, beside it. It stays when the file is removed."""
    values = {"sha256": sha256, "source": source, "recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    write_file(_record_of(path), (json.dumps(values, indent=2) + "\n").encode("utf-8"))


@contextlib.contextmanager
def fetching(path: Path) -> Iterator[None]:
    """Be the one process that fetches `path`; another one waits until this one has it, or is dead."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    except OSError as error:
        cause = error.strerror or error
        raise WeightsError(f"{path.parent}: cannot be used ({cause}); set {VARIABLE} to another folder") from None
    with locked(path.with_name(f".{path.name}.lock"), busy=lambda: _say_waiting(path)):
        yield


def _say_waiting(path: Path) -> None:
    logger.info("%s: another process is fetching it; waiting", path)


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + RECORD_SUFFIX)
