"""Directories that are either wholly there or not there at all, whenever the power fails."""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from elmo.disk.temporaries import remove_abandoned, temporary_directory
from elmo.disk.writing import sync_directory
from elmo.errors import WeightsError

PREVIOUS = re.compile(r"\.(.+)\.previous")


@contextlib.contextmanager
def atomic_directory(
    path: Path, *, overwrite: bool = False, replaceable: Callable[[Path], bool] = lambda _: False
) -> Iterator[Path]:
    """A directory to fill; it takes the name `path` when the block ends well.

    What stands at `path` already is replaced only with `overwrite`, and only if `replaceable` knows it for a thing of
    ours, or it is empty. It is set aside until the new one is in place; `recover` brings it back after a crash between.
    """
    recover(path)
    if path.exists() or path.is_symlink():
        check_replaceable(path, overwrite=overwrite, replaceable=replaceable)
    path.parent.mkdir(parents=True, exist_ok=True)
    previous = _previous(path)
    try:
        with temporary_directory(path) as temporary:
            yield temporary
            for path_inside in temporary.rglob("*"):
                if path_inside.is_file():
                    _sync_file(path_inside)
            sync_directory(temporary)
            if path.exists():
                shutil.rmtree(previous, ignore_errors=True)
                os.rename(path, previous)
            os.rename(temporary, path)
    except BaseException:
        recover(path)
        raise
    sync_directory(path.parent)
    shutil.rmtree(previous, ignore_errors=True)


def check_replaceable(path: Path, *, overwrite: bool, replaceable: Callable[[Path], bool]) -> None:
    """Refuse to touch what stands at `path` unless it may be replaced."""
    if path.is_symlink() or not path.is_dir():
        raise WeightsError(f"{path}: is in the way and not a directory; choose another name or remove it")
    empty = next(path.iterdir(), None) is None
    if empty:
        return
    if not overwrite:
        raise WeightsError(
            f"{path}: exists already; choose another name, or overwrite it (--overwrite, overwrite=True)"
        )
    if not replaceable(path):
        raise WeightsError(f"{path}: exists and does not look like a model directory, so it is not overwritten")


def recover(path: Path) -> None:
    """Undo a replacement that was interrupted after the old directory was set aside and before the new one came."""
    previous = _previous(path)
    with contextlib.suppress(OSError, ValueError):  # another process was first, or `path` is no name
        if previous.is_dir() and not path.exists():
            os.rename(previous, path)


def clean_up(folder: Path) -> None:
    """Undo or finish what killed writers left in a folder: temporaries, and directories set aside for new ones.

    Whoever opens a run to write into it calls this first; what a living process is writing stays.
    """
    remove_abandoned(folder)
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if set_aside := PREVIOUS.fullmatch(entry.name):
            recover(folder / set_aside[1])
            if (folder / set_aside[1]).exists():
                shutil.rmtree(entry, ignore_errors=True)


def _previous(path: Path) -> Path:
    return path.parent / f".{path.name}.previous"


def _sync_file(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
