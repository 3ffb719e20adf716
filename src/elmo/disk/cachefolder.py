"""The folder of what can be fetched or made again, and whether nobody but the user can have put something there."""

import os
import stat
import sys
from pathlib import Path

VARIABLE = "ELMO_CACHE"


def cache_directory() -> Path:
    """The folder of downloads, packed weights and compiled kernels: $ELMO_CACHE, or `elmo` in the platform's own."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "elmo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elmo"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elmo"


def why_not_private(path: Path) -> str | None:
    """What lets others than the user and the administrator write a file or folder; None where nothing does.

    OSError where it is not there. Windows has no such owners and modes: there a user's folders are the user's.
    """
    if os.name == "nt":
        return None
    facts = path.stat()
    if facts.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {facts.st_uid}"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by others (mode {stat.S_IMODE(facts.st_mode):o})"
    return None


def make_private(path: Path) -> None:
    """Take from others the right to write a file or folder of the user's own."""
    if os.name != "nt":
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
