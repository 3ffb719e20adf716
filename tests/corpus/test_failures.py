"""Builds that cannot succeed: one line that names file and line, and nothing where the store should be."""

import errno
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus.reference import file_contents, make_text

from elmo.corpus import CorpusStore, Moment, build_corpus
from elmo.disk.workfolder import work_folder
from elmo.errors import ConfigError, ElmoError, InputError


def quiet(progress: Moment) -> None:
    pass


def expect_input_error(tmp_path: Path, inputs: list[Path], message: str, **options) -> None:
    with pytest.raises(InputError, match=message) as caught:
        build_corpus(inputs, tmp_path / "store", tokenized=True, progress=quiet, **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path, workers: int) -> None:
    good = make_text(300).encode("utf-8")
    file = tmp_path / "latin1.txt"
    file.write_bytes(good + b"caf\xe9 au lait\n" + good)
    line = good.count(b"\n") + 1
    message = rf"latin1\.txt: line {line} .*0xe9"
    expect_input_error(tmp_path, [file], message, workers=workers, block_bytes=4000)


def test_a_file_put_right_can_be_resumed(tmp_path: Path) -> None:
    good = b"some words that are good\n" * 50_000
    file = tmp_path / "text"
    file.write_bytes(good + b"caf\xe9 au lait\n" + good)
    expect_input_error(tmp_path, [file], "line", workers=1, block_bytes=100_000)
    assert any((tmp_path / "store.building" / "blocks").iterdir())
    file.write_bytes(good + "café au lait\n".encode() + good)
    resumed = build_corpus([file], tmp_path / "store", tokenized=True, resume=True, block_bytes=100_000)
    straight = build_corpus([file], tmp_path / "straight", tokenized=True)
    assert file_contents(resumed.folder) == file_contents(straight.folder)


def test_a_line_of_100_megabytes_is_refused_without_being_held(tmp_path: Path) -> None:
    file = tmp_path / "image.txt"
    with open(file, "wb") as written:
        written.write(b"a first line\n")
        written.truncate(100 << 20)
    expect_input_error(tmp_path, [file], r"image\.txt: line 2 is longer than")


def test_an_empty_file_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"a word\n")
    (tmp_path / "empty").write_bytes(b"")
    expect_input_error(tmp_path, [tmp_path / "full", tmp_path / "empty"], r"empty: line 1: no sentence")
    assert not (tmp_path / "store.building").exists()


def test_a_blank_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"a word\n")
    (tmp_path / "blank").write_bytes(b"\n  \n\t\n")
    expect_input_error(tmp_path, [tmp_path / "full", tmp_path / "blank"], r"blank: line 1: no sentence")


def test_a_directory_without_a_sentence_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a").write_bytes(b"")
    (tmp_path / "texts" / "b").write_bytes(b"\n")
    expect_input_error(tmp_path, [tmp_path / "texts"], "no sentence in any of 2 files")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    expect_input_error(tmp_path, [tmp_path / "nowhere.txt"], r"nowhere\.txt: no such file")


def test_no_input_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no input"):
        build_corpus([], tmp_path / "store")


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.gz").write_bytes(b"\x1f\x8b\x08\x00 no gzip at all")
    expect_input_error(tmp_path, [tmp_path / "text.gz"], r"text\.gz: damaged")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.8, 1.0])
def test_a_full_disk_leaves_nothing_and_can_be_resumed(tmp_path: Path, monkeypatch, share: float) -> None:
    """The disk is full when a share of all files is written: in the blocks, in scratch files, in the store."""
    file = tmp_path / "text"
    file.write_text(make_text(300), encoding="utf-8")
    options = {"tokenized": True, "workers": 1, "block_bytes": 1000, "progress": quiet}
    fsync = os.fsync
    written = 0
    room = sys.maxsize

    def fsync_with_room(descriptor: int) -> None:
        nonlocal written
        # A directory that cannot be synced loses no file, so only files count.
        written += stat.S_ISREG(os.fstat(descriptor).st_mode)
        if written > room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync_with_room)
        straight = build_corpus([file], tmp_path / "straight", **options)
        room, written = int(share * (written - 1)), 0
        with pytest.raises(
            ElmoError, match=r"store\.building/.*: cannot be written: No space left on device"
        ) as caught:
            build_corpus([file], tmp_path / "store", **options)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "store.building" / "store").exists()
    resumed = build_corpus([file], tmp_path / "store", resume=True, **options)
    assert file_contents(resumed.folder) == file_contents(straight.folder)


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX feature")
@pytest.mark.parametrize(("limit", "name"), [(1500, "000000.safetensors"), (12_000, r"\S+")])
def test_a_real_write_error_in_a_worker_or_in_the_caller_is_one_line(tmp_path: Path, limit: int, name: str) -> None:
    (tmp_path / "text").write_text(make_text(600), encoding="utf-8")
    code = (
        "import resource, sys\n"
        "from elmo.errors import ElmoError\n"
        "from elmo.corpus import build_corpus\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "try:\n"
        "    build_corpus(['text'], 'store', tokenized=True, workers=2, block_bytes=2000)\n"
        "except ElmoError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.fullmatch(rf"store\.building/\S+/{name}: cannot be written: File too large; .*\n", ran.stdout), ran
    assert not (tmp_path / "store").exists()


def test_two_builds_of_one_store_at_a_time_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(make_text(20), encoding="utf-8")
    with work_folder(tmp_path / "store", {}, thing="corpus", resume=False):
        with pytest.raises(ConfigError, match="another process is building"):
            build_corpus([tmp_path / "text"], tmp_path / "store", tokenized=True)
        assert (tmp_path / "store.building").exists()
    build_corpus([tmp_path / "text"], tmp_path / "store", tokenized=True)
    CorpusStore.open(tmp_path / "store").verify()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(make_text(20), encoding="utf-8")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(ElmoError, match=r"closed/store\.building: cannot be written: Permission denied"):
        build_corpus([tmp_path / "text"], tmp_path / "closed" / "store", tokenized=True)
