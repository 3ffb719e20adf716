"""The compiled library: built once, and done without where that fails."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo.ops.cpu_library import cpu_library


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    cpu_library.cache_clear()
    yield
    cpu_library.cache_clear()


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_library_is_built_once_and_passes_its_own_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library = cpu_library()
    assert library is not None
    assert library.elmo_self_test() == 0
    (made,) = (tmp_path / "elmo" / "kernels").iterdir()
    stamp = made.stat().st_mtime_ns
    cpu_library.cache_clear()
    assert cpu_library() is not None
    assert made.stat().st_mtime_ns == stamp


def test_a_compiler_that_fails_is_named_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'this compiler is broken' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXX", str(broken))
    with caplog.at_level(logging.WARNING):
        assert cpu_library() is None
    assert "this compiler is broken" in caplog.text


def test_a_library_that_kills_its_process_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A compiler whose output is no library stands for a processor that lacks an instruction: the child dies."""
    useless = tmp_path / "useless"
    useless.write_text('#!/bin/sh\nfor last; do :; done\necho nonsense > "$last"\n', encoding="utf-8")
    useless.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXX", str(useless))
    with caplog.at_level(logging.WARNING):
        assert cpu_library() is None
    assert "plain torch is used" in caplog.text
    assert not list((tmp_path / "elmo" / "kernels").iterdir())


def test_a_switch_turns_the_kernels_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_CPU_KERNELS", "0")
    assert cpu_library() is None
