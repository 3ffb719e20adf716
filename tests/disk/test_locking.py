"""One process at a time, and a dead one holds nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from elmo.disk.locking import locked
from elmo.errors import UserError


def never() -> None:
    raise AssertionError("the lock was free")


def test_another_process_is_told_that_the_lock_is_held(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from elmo.disk.locking import locked\n"
        "def busy(): sys.exit(7)\n"
        "with locked(Path(sys.argv[1]), busy=busy): pass\n"
    )
    path = tmp_path / "lock"
    command = [sys.executable, "-c", program, str(path)]
    with locked(path, busy=never):
        assert subprocess.run(command, check=False).returncode == 7
    assert subprocess.run(command, check=False).returncode == 0


def test_the_lock_is_free_again_after_its_holder_died(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from elmo.disk.locking import locked\n"
        "with locked(Path(sys.argv[1]), busy=lambda: None): os._exit(9)\n"
    )
    path = tmp_path / "lock"
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    with locked(path, busy=never):
        pass


def test_a_place_that_cannot_hold_a_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file.lock: cannot be locked"), locked(tmp_path / "file" / "lock", busy=never):
        pass
