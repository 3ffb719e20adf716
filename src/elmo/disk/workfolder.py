"""The folder beside a directory in the making that keeps finished blocks, so that an interrupted build can go on.

What is built takes its name at the end, whole: until then nothing is seen of it.
"""

import contextlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import exists, read_json
from elmo.disk.locking import locked_alone
from elmo.disk.writing import errors_naming, write_file
from elmo.errors import ConfigError, ResumeError

logger = logging.getLogger(__name__)

Identity = dict[str, Any]  # all that decides what is built, as values of JSON

MOST_IDENTITY_BYTES = 256 << 20  # it names every source
_IDENTITY = "plan.json"
_LOCK = "lock"


def folder_beside(out_dir: Path) -> Path:
    """Where the work is kept: on the same disk, so that what is finished only needs a new name."""
    return out_dir.with_name(f"{out_dir.name}.building")


class WorkFolder:
    """Finished blocks, scratch files and the directory in the making (`made`). Make one with `work_folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blocks = folder / "blocks"
        self.scratch = folder / "scratch"
        self.made = folder / "store"

    def block_path(self, number: int) -> Path:
        return self.blocks / f"{number:06d}.safetensors"

    def finished_blocks(self) -> int:
        """How many blocks stand complete from the first on."""
        count = 0
        while self.block_path(count).is_file():
            count += 1
        return count

    def put_in_place(self, out_dir: Path) -> None:
        """Give what is made its name."""
        with errors_naming(out_dir):
            if out_dir.is_dir():
                out_dir.rmdir()  # empty; Windows would not replace it
            os.replace(self.made, out_dir)


@contextlib.contextmanager
def work_folder(
    out_dir: Path,
    identity: Identity,
    *,
    thing: str,
    resume: bool,
    of_blocks: Callable[[Identity], Identity] = lambda identity: identity,
) -> Iterator[WorkFolder]:
    """A work folder of this process alone. Without `resume` it is empty; with it the identity must be the one recorded.

    `thing` is what is built, in a word, and `of_blocks` the part of an identity that finished blocks depend on. When
    the work fails or is interrupted the finished blocks stay, if there are any; when it succeeds nothing does.
    """
    work = WorkFolder(folder_beside(out_dir))
    with errors_naming(work.folder):
        work.folder.mkdir(parents=True, exist_ok=True)
    keep = True
    try:
        with locked_alone(work.folder / _LOCK, refusal=_other_at_work(out_dir, thing)):
            if not (resume and _is_of(work.folder / _IDENTITY, identity, of_blocks)):
                # The word that blocks are worth something goes first: a process may be killed between any two steps.
                (work.folder / _IDENTITY).unlink(missing_ok=True)
                _remove(work.blocks)
            _remove(work.scratch, work.made)
            try:
                with errors_naming(work.folder):
                    for folder in (work.blocks, work.scratch, work.made):
                        folder.mkdir(exist_ok=True)
                write_file(work.folder / _IDENTITY, json.dumps(identity, indent=2).encode("utf-8"))
                yield work
                keep = False
            except BaseException:
                _remove(work.scratch, work.made)
                keep = any(work.blocks.glob("*.safetensors"))
                if keep:
                    logger.warning("finished work is kept in %s: resume to go on from there, or delete it", work.folder)
                raise
    finally:
        if not keep:
            _remove(work.folder)


def has_unfinished_work(out_dir: Path) -> bool:
    """Whether an interrupted build has left blocks that are worth something."""
    work = WorkFolder(folder_beside(out_dir))
    return exists(work.folder / _IDENTITY) and work.finished_blocks() > 0


def remove_work(out_dir: Path, *, thing: str) -> None:
    """Clean up after a build that was killed when what it made had its name already."""
    folder = folder_beside(out_dir)
    if folder.is_dir():
        with locked_alone(folder / _LOCK, refusal=_other_at_work(out_dir, thing)):
            pass
        _remove(folder)


def is_taken(out_dir: Path) -> bool:
    """Whether something stands there already; an empty folder is nothing."""
    if out_dir.is_dir():
        return any(out_dir.iterdir())
    return os.path.lexists(out_dir)


def _other_at_work(out_dir: Path, thing: str) -> ConfigError:
    return ConfigError(f"{out_dir}: another process is building this {thing}; wait for it or end it")


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _is_of(path: Path, identity: Identity, of_blocks: Callable[[Identity], Identity]) -> bool:
    """Whether work was begun; it must have been the same."""
    if not exists(path):
        return False
    recorded = read_json(path, most_bytes=MOST_IDENTITY_BYTES, refusal=ResumeError)
    difference = first_difference(of_blocks(recorded), of_blocks(identity))
    if difference is not None:
        raise ResumeError(
            f"{path.parent}: {difference}; resume with the inputs and options that the work was begun with, or start "
            "again without resume"
        )
    return True
