"""Where downloaded models live, what is known of each file, and a lock between processes. No network here."""

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from elmo.errors import WeightsError
from elmo.weights.atomic import atomic_file
from elmo.weights.plainfiles import read_json

logger = logging.getLogger(__name__)

VARIABLE = "ELMO_CACHE"
RECORD_SUFFIX = ".record.json"
LOCK_POLL_SECONDS = 0.2


def cache_directory() -> Path:
    """The folder of downloaded models: $ELMO_CACHE, or `elmo` in the platform's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "elmo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elmo"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elmo"


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
    with atomic_file(_record_of(path)) as file:
        file.write((json.dumps(values, indent=2) + "\n").encode("utf-8"))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of `path` against other processes. It is freed by the system if this one dies."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path.with_name(f".{path.name}.lock"), "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise WeightsError(
            f"{path.parent}: cannot be used ({error.strerror}); set {VARIABLE} to another folder"
        ) from None
    with lock as file:
        told = False
        while not _try_lock(file):
            if not told:
                logger.info("%s: another process is fetching it; waiting", path)
                told = True
            time.sleep(LOCK_POLL_SECONDS)
        try:
            yield
        finally:
            _unlock(file)


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + RECORD_SUFFIX)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            reason = f"cannot be locked ({error.strerror}); set {VARIABLE} to a folder on another disk"
            raise WeightsError(f"{file.name}: {reason}") from None
        return True

    def _unlock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
