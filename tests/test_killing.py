"""The killing itself: it happens where it was asked for, and nothing is tidied up on the way."""

import os
from pathlib import Path

from tests.killing import contents, points, run


def test_a_child_dies_before_the_operation_and_no_finally_runs(tmp_path: Path) -> None:
    folder = tmp_path / "work"

    def work() -> int:
        folder.mkdir()
        try:
            with open(folder / "a.tmp", "wb") as file:
                file.write(b"text")
                file.flush()
                os.fsync(file.fileno())
            os.replace(folder / "a.tmp", folder / "a")
        finally:
            (folder / "b").write_text("tidied up")
        return 3

    done = run(work, within=folder)
    assert (done.killed, done.result, done.error) == (False, 3, "")
    assert [operation.split()[0] for operation in done.operations] == ["os.mkdir", "open", "fsync", "os.rename", "open"]
    assert set(contents(folder)) == {"a", "b"}
    left = [[], [], ["a.tmp"], ["a.tmp"], ["a"]]
    for n, names in enumerate(left):
        for path in folder.glob("*"):
            path.unlink()
        if folder.exists():
            folder.rmdir()
        assert run(work, within=folder, kill_at=n).killed
        assert sorted(contents(folder)) == names


def test_a_failure_is_told_with_what_was_said(tmp_path: Path) -> None:
    def work() -> None:
        print("on the way")
        raise ValueError("wrong")

    ended = run(work, within=tmp_path)
    assert not ended.killed
    assert "ValueError: wrong" in ended.error
    assert ended.said == "on the way\n"


def test_points_are_spread_from_the_first_to_the_last() -> None:
    assert points(4) == [0, 1, 2, 3]
    assert points(100, most=4) == [0, 33, 66, 99]
