"""Temporaries: those of living writers stay, those of dead ones go."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from elmo.disk import temporaries
from elmo.disk.temporaries import remove_abandoned, temporary_directory, temporary_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")

WRITER = """
import os, signal, sys
from pathlib import Path
from elmo.disk.temporaries import temporary_directory, temporary_file
target = Path(sys.argv[1])
with temporary_directory(target) as folder, temporary_file(target) as (_, file):
    (folder / "half").touch()
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_what_a_living_process_writes_stays_and_what_a_killed_one_left_goes(tmp_path: Path) -> None:
    source = str(Path(temporaries.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "model")],
        env={**os.environ, "PYTHONPATH": source},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        being_written = sorted(tmp_path.iterdir())
        remove_abandoned(tmp_path)
        assert sorted(tmp_path.iterdir()) == being_written
        assert len(being_written) == 2
        writer.kill()
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_pipe_with_a_temporarys_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".model.tmp-0123456789ab")
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_that_are_not_temporaries_stay(tmp_path: Path) -> None:
    names = {".model.previous", "model.tmp-0123456789ab", ".model.tmp-mine", ".hidden"}
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / ".link.tmp-0123456789ab").symlink_to(tmp_path / ".hidden")
    remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names, ".link.tmp-0123456789ab"}
    remove_abandoned(tmp_path / "missing")


def test_a_temporary_that_was_taken_for_abandoned_before_its_lock_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["000000000000", "000000000001", "000000000002", "000000000003"])
    monkeypatch.setattr(temporaries.secrets, "token_hex", lambda _: next(names))
    held, removed = temporaries._held, []

    def too_late(path: Path):  # type: ignore[no-untyped-def]
        if not removed:
            removed.append(path)
            remove_abandoned(tmp_path)
        return held(path)

    monkeypatch.setattr(temporaries, "_held", too_late)
    with temporary_directory(tmp_path / "model") as folder:
        assert folder.is_dir()
        assert folder.name.endswith("1")
    removed.clear()
    with temporary_file(tmp_path / "model") as (path, file):
        file.write(b"x")
        assert path.exists()
    assert not list(tmp_path.iterdir())
