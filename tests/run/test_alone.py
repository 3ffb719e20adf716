"""One process trains in a folder at a time."""

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from elmo.errors import ResumeError
from elmo.run.alone import alone_in

PROGRAM = (
    "import sys; from pathlib import Path; from elmo.errors import ResumeError; from elmo.run.alone import alone_in\n"
    "try:\n"
    "    with alone_in(Path(sys.argv[1])): pass\n"
    "except ResumeError as error: sys.exit(str(error))\n"
)


def test_another_process_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    run = tmp_path / "deep" / "run"
    command = [sys.executable, "-c", PROGRAM, str(run)]
    with alone_in(run):
        (run / "metrics.jsonl").write_text("")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"{run}: another process trains here; wait for it or end it" in done.stderr
    assert subprocess.run(command, check=False).returncode == 0
    assert (run / "metrics.jsonl").exists()


def test_a_run_that_wrote_nothing_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a mistake"), alone_in(tmp_path / "run"):
        raise ValueError("a mistake")
    assert not (tmp_path / "run").exists()


def test_who_is_refused_takes_nothing_away(tmp_path: Path) -> None:
    with alone_in(tmp_path):
        before = sorted(tmp_path.iterdir())
        with pytest.raises(ResumeError), alone_in(tmp_path):
            pass
        assert sorted(tmp_path.iterdir()) == before


def test_a_disk_without_locks_is_warned_of_and_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise NotImplementedError("no locks here")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with alone_in(tmp_path / "run"):
        (tmp_path / "run" / "metrics.jsonl").write_text("")
    assert "no locks here" in caplog.text
    assert "see to it that no other process trains here" in caplog.text
