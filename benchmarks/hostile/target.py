"""`Target`: a set of valid files, which of them is changed and how, and what reads it."""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile.mutations import Mutation
from elmo.errors import ElmoError

NOT_A_FILE = 0.02  # of the inputs: a directory stands there, a pipe, a file that may not be read, or nothing
MOST_MESSAGE = 2000


@dataclass(frozen=True)
class Target:
    """`pipes`: whether the reader takes text from a pipe, as a shell's `<(...)` is one, and so may wait for it."""

    name: str
    files: dict[str, bytes]
    changed: str
    mutate: Mutation
    read: Callable[[Path], object]
    pipes: bool = False

    def lay_out(self, directory: Path) -> None:
        """Put the valid files there, and nothing else."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for name, content in self.files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)

    def change(self, directory: Path, seed: int, number: int) -> None:
        """Make input `number`."""
        chance = random.Random(f"{seed}:{number}")
        path = directory / self.changed
        if chance.random() >= NOT_A_FILE:
            path.write_bytes(self.mutate(chance, self.files[self.changed]))
            return
        content = path.read_bytes()
        path.unlink()
        kind = chance.choice(("nothing", "directory", "secret") if self.pipes else ("directory", "pipe", "secret"))
        if kind == "directory":
            path.mkdir()
        elif kind == "pipe" and hasattr(os, "mkfifo"):
            os.mkfifo(path)
        elif kind == "secret":
            path.write_bytes(content)
            path.chmod(0)

    def run(self, directory: Path, seed: int, number: int) -> tuple[str, str]:
        """Make input `number`, read it, and say what came of it, with the message of a refusal."""
        self.lay_out(directory)
        self.change(directory, seed, number)
        try:
            self.read(directory)
        except ElmoError as error:
            return judge(str(error), directory), str(error)
        return "read", ""


def judge(message: str, directory: Path) -> str:
    """Whether a refusal is one line that names what lies in the directory."""
    if len(message.splitlines()) != 1:
        return "REFUSED IN SEVERAL LINES"
    if len(message) > MOST_MESSAGE:
        return "REFUSED AT LENGTH"
    return "refused" if str(directory) in message else "REFUSED WITHOUT A NAME"
