"""Writing: whole files or none, and errors that name the file."""

import errno
import os
import stat
from pathlib import Path

import pytest

from elmo.disk.writing import atomic_path, write_atomically, write_file
from elmo.errors import ElmoError, UserError


def test_a_written_file_takes_its_place_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    with write_atomically(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")

    def fail() -> None:
        with write_atomically(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    with open(tmp_path / "usual", "wb"):
        pass
    with write_atomically(tmp_path / "ours"):
        pass
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


def test_writing_into_a_missing_folder_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"out\.txt: cannot be written"), write_atomically(tmp_path / "no" / "out.txt"):
        pass


def test_a_full_disk_is_one_line_with_file_and_cure_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        ElmoError, match=r"out\.txt: cannot be written: No space left on device; make room, then resume"
    ):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_another_program_writes_takes_its_place_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    with atomic_path(path) as temporary:
        assert temporary.suffix == ".bin"  # programs choose a format by it
        temporary.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_path_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"half")
            temporary.with_name("beside").write_bytes(b"of the same program")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_at_which_nothing_was_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ElmoError, match=r"out\.bin: cannot be written"), atomic_path(tmp_path / "out.bin"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_path_in_a_missing_folder_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"out\.bin: cannot be written"), atomic_path(tmp_path / "no" / "out.bin"):
        pass


def test_a_full_disk_under_a_path_is_one_line_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write() -> None:
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"new")

    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ElmoError, match=r"out\.bin: cannot be written: No space left on device; make room"):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
