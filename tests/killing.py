"""Work that is killed at its n-th file operation, as by `kill -9`: for tests of what a resumed run leaves.

A child is forked for each point, so that a model is loaded once for all of them. It counts what the work does in one
folder (opening a file to write, fsync, rename, unlink, mkdir, rmdir, truncate, link) and dies by SIGKILL *before* the
n-th of these: no `finally` runs, no buffer is flushed. Files that C libraries open by themselves (HDF5, Arrow, Rust's
safetensors) are not counted; the operations around them are.

    done = run(work, within=folder)                      # not killed: how many operations there are
    for n in points(len(done.operations)):
        assert run(work, within=folder, kill_at=n).killed
        assert run(work_resumed, within=folder).result == 0
        assert contents(folder) == contents(undisturbed)
"""

import hashlib
import itertools
import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HANGS_AFTER_SECONDS = 600  # a child that waits for a lock for ever must not hold up the suite
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    killed: bool  # at the point that was asked for
    result: Any  # what the work returned (as JSON has it); None if it was killed or failed
    error: str  # the traceback, if it failed by itself
    said: str  # its standard output and standard error
    operations: list[str]  # what it did with files, up to its end


def run(work: Callable[[], Any], *, within: Path, kill_at: int | None = None) -> Ended:
    """Do the work in a forked child, which is killed before its operation number `kill_at` (from 0) inside `within`."""
    said, saying = os.pipe()
    telling = within.with_name(f".{within.name}.told-{os.getpid()}")  # a file, because a pipe that is full would wait
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads; the child uses none of theirs
        child = os.fork()
    if child == 0:
        os.close(said)
        _be_the_child(work, within=within, kill_at=kill_at, saying=saying, telling=telling)
    os.close(saying)
    with open(said, encoding="utf-8", errors="replace") as output:
        text = output.read()
    _, status = os.waitpid(child, 0)
    told = [json.loads(line) for line in telling.read_text("utf-8").splitlines()]
    telling.unlink()
    ending = told.pop() if told and isinstance(told[-1], dict) else {}
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    error = "" if killed or "result" in ending else ending.get("error", f"ended with status {status}: {text}")
    return Ended(killed, ending.get("result"), error, text, told)


def points(count: int, *, most: int | None = None) -> list[int]:
    """Numbers of operations to be killed at: all, or at most so many of them, spread, with the first and the last."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(n * (count - 1) / (most - 1)) for n in range(most)})


def contents(folder: Path) -> dict[str, str]:
    """Every file and folder below a folder, with the hash of what it holds."""
    return {
        str(path.relative_to(folder)): "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
    }


def _be_the_child(work: Callable[[], Any], *, within: Path, kill_at: int | None, saying: int, telling: Path) -> None:
    """Never returns: the test that forked must not go on twice."""
    code = 1
    try:
        signal.alarm(HANGS_AFTER_SECONDS)
        os.dup2(saying, 1)
        os.dup2(saying, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)  # the threads of the parent's pool do not exist here
        told = os.open(telling, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        _count_operations(within.absolute(), kill_at, told)
        try:
            ending: dict[str, Any] = {"result": work()}
            code = 0
        except BaseException:
            ending = {"error": traceback.format_exc()}
        os.write(told, json.dumps(ending).encode() + b"\n")
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _count_operations(within: Path, kill_at: int | None, told: int) -> None:
    number = itertools.count()

    def done(operation: str) -> None:
        if next(number) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(told, json.dumps(operation).encode() + b"\n")

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or (event == "open" and not arguments[2] & _WRITING):
            return
        path = arguments[0]
        relative = isinstance(arguments[-1], int) and arguments[-1] >= 0 and event in ("os.remove", "os.rmdir")
        if not isinstance(path, str | bytes | os.PathLike):
            return  # an open file by its number
        name = os.fsdecode(path)
        if relative:  # to an open folder: `shutil.rmtree` goes down this way
            done(f"{event} .../{name}")
        elif Path(os.path.abspath(name)).is_relative_to(within):
            done(f"{event} {os.path.relpath(name, within)}")

    sync = os.fsync

    def fsync(file: Any) -> None:
        done("fsync")
        sync(file)

    os.fsync = fsync  # the one of these that tells no audit hook
    sys.addaudithook(hear)
