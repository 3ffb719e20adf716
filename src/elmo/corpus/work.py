"""The folder beside the store in which a build keeps its finished blocks, so that an interrupted build can go on."""

import contextlib
import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elmo.corpus.store import MOST_MANIFEST_BYTES
from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import exists, read_json
from elmo.disk.locking import locked_alone
from elmo.disk.writing import errors_naming, write_file
from elmo.errors import ConfigError, ResumeError

logger = logging.getLogger(__name__)

VOCABULARY_OPTIONS = ("vocabulary_size", "min_count", "coverage", "given_vocabulary")
_IDENTITY = "plan.json"
_LOCK = "lock"


def folder_beside(out_dir: Path) -> Path:
    """Where the work for a store is kept: on the same disk, so that the finished store only needs a new name."""
    return out_dir.with_name(f"{out_dir.name}.building")


class WorkFolder:
    """Finished blocks, scratch files and the store in the making. Make one with `work_folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blocks = folder / "blocks"
        self.scratch = folder / "scratch"
        self.store = folder / "store"

    def block_path(self, number: int) -> Path:
        return self.blocks / f"{number:06d}.safetensors"


@contextlib.contextmanager
def work_folder(out_dir: Path, identity: dict[str, Any], *, resume: bool) -> Iterator[WorkFolder]:
    """A work folder of this process alone. Without `resume` it is empty; with it the identity must be the one recorded.

    When the work fails or is interrupted the finished blocks stay, if there are any; when it succeeds nothing does.
    """
    work = WorkFolder(folder_beside(out_dir))
    with errors_naming(work.folder):
        work.folder.mkdir(parents=True, exist_ok=True)
    keep = True
    try:
        with locked_alone(work.folder / _LOCK, refusal=_other_at_work(out_dir)):
            if not (resume and _is_of(work.folder / _IDENTITY, identity)):
                # The word that blocks are worth something goes first: a process may be killed between any two steps.
                (work.folder / _IDENTITY).unlink(missing_ok=True)
                _remove(work.blocks)
            _remove(work.scratch, work.store)
            try:
                with errors_naming(work.folder):
                    for folder in (work.blocks, work.scratch, work.store):
                        folder.mkdir(exist_ok=True)
                write_file(work.folder / _IDENTITY, json.dumps(identity, indent=2).encode("utf-8"))
                yield work
                keep = False
            except BaseException:
                _remove(work.scratch, work.store)
                keep = any(work.blocks.glob("*.safetensors"))
                if keep:
                    logger.warning("finished work is kept in %s: resume to go on from there, or delete it", work.folder)
                raise
    finally:
        if not keep:
            _remove(work.folder)


def remove_work(out_dir: Path) -> None:
    """Clean up after a build that was killed when its store had its name already."""
    folder = folder_beside(out_dir)
    if folder.is_dir():
        with locked_alone(folder / _LOCK, refusal=_other_at_work(out_dir)):
            pass
        _remove(folder)


def _other_at_work(out_dir: Path) -> ConfigError:
    return ConfigError(f"{out_dir}: another process is building this corpus; wait for it or end it")


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _of_blocks(identity: dict[str, Any]) -> dict[str, Any]:
    """What finished blocks depend on: the vocabulary is chosen when all of them are there, and may be chosen anew."""
    options = identity.get("options")
    if not isinstance(options, dict):
        return identity
    return {**identity, "options": {name: value for name, value in options.items() if name not in VOCABULARY_OPTIONS}}


def _is_of(path: Path, identity: dict[str, Any]) -> bool:
    """Whether work was begun; it must have been the same."""
    if not exists(path):
        return False
    recorded = read_json(path, most_bytes=MOST_MANIFEST_BYTES, refusal=ResumeError)
    difference = first_difference(_of_blocks(recorded), _of_blocks(identity))
    if difference is not None:
        raise ResumeError(
            f"{path.parent}: {difference}; resume with the inputs and options that the work was begun with, or start "
            "again without resume"
        )
    return True
