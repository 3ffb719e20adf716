"""The compiled library: built once, and done without where that fails."""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.ops.cpu.asking import ask_anew

import elmo.ops.cpu.library as cpu_library_module
from elmo.ops.cpu import prebuilding
from elmo.ops.cpu.library import _key, cpu_library

needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is looked for anew; afterwards the process has the one again that it had."""
    ask_anew(monkeypatch)


@needs_compiler
def test_the_library_is_built_once_and_passes_its_own_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    library = cpu_library()
    assert library is not None
    assert library.elmo_self_test() == 0
    (made,) = (tmp_path / "kernels").glob("*.so")
    stamp = made.stat().st_mtime_ns
    cpu_library_module._find_library.cache_clear()
    assert cpu_library() is not None
    assert made.stat().st_mtime_ns == stamp


def test_every_file_of_the_source_makes_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path for path in prebuilding.SOURCE.parent.iterdir() if path.suffix in (".cpp", ".h")]
    for path in files:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(prebuilding, "SOURCE", tmp_path / prebuilding.SOURCE.name)
    keys = {_key("c++")}
    for path in files:
        with open(tmp_path / path.name, "a", encoding="utf-8") as file:
            file.write("// another line\n")
        keys.add(_key("c++"))
    assert len(keys) == len(files) + 1 > 5


INTRUDER = """
#include <cstdlib>
#include <fstream>
__attribute__((constructor)) void intrude() { std::ofstream(std::getenv("INTRUDED_AT")) << "x"; }
extern "C" int elmo_self_test() { return 0; }
"""


@needs_compiler
@pytest.mark.parametrize("records", ["none", "its own"])
def test_a_library_that_others_could_lay_there_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, records: str
) -> None:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("INTRUDED_AT", str(tmp_path / "intruded"))
    compiler = str(shutil.which("c++"))
    (tmp_path / "intruder.cpp").write_text(INTRUDER, encoding="utf-8")
    folder.mkdir()
    laid = folder / f"cpu-{_key(compiler)}.so"
    subprocess.run([compiler, "-shared", "-fPIC", str(tmp_path / "intruder.cpp"), "-o", str(laid)], check=True)
    if records == "its own":
        laid.with_suffix(".sha256").write_text(hashlib.sha256(laid.read_bytes()).hexdigest(), encoding="ascii")
    folder.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        library = cpu_library()
    assert library is not None
    assert library.elmo_panel_width() > 0  # ours, built in a private folder
    assert "others (mode 777)" in caplog.text
    assert "ELMO_CACHE" in caplog.text
    assert not (tmp_path / "intruded").exists()
    assert cpu_library() is library
    assert len(caplog.records) == 1


@needs_compiler
@pytest.mark.parametrize("change", ["content", "mode", "record"])
def test_a_library_that_is_not_as_it_was_built_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    folder = tmp_path / "kernels"
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nfor last; do :; done\necho built > "$last"\n', encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setattr(cpu_library_module, "SELF_TEST", "")
    monkeypatch.setattr(ctypes, "CDLL", lambda path: Path(path).read_text("utf-8"))
    assert cpu_library() == "built\n"
    (library,) = folder.glob("*.so")
    library.chmod(0o777 if change == "mode" else 0o700)
    if change != "mode":
        (library if change == "content" else library.with_suffix(".sha256")).write_text("other", encoding="utf-8")
    cpu_library_module._find_library.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert cpu_library() == "built\n"
    assert "built anew" in caplog.text
    cpu_library_module._find_library.cache_clear()
    caplog.clear()
    assert cpu_library() == "built\n"
    assert not caplog.records


@needs_compiler
def test_a_pipe_in_the_place_of_a_record_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)  # it would name another library
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    (tmp_path / "kernels").mkdir(mode=0o700)
    made = tmp_path / "kernels" / f"cpu-{_key(shutil.which('c++'))}.so"
    made.touch(mode=0o600)
    os.mkfifo(made.with_suffix(".sha256"))
    assert cpu_library() is not None
    assert made.with_suffix(".sha256").is_file()


def test_threads_that_come_together_wait_for_one_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "compiler"
    count = f"echo x >> {tmp_path}/builds"
    compiler.write_text(f'#!/bin/sh\n{count}\nfor last; do :; done\necho built > "$last"\n', encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setattr(cpu_library_module, "SELF_TEST", "")
    monkeypatch.setattr(ctypes, "CDLL", lambda path: Path(path).read_text("utf-8"))
    together = threading.Barrier(4)

    def ask(_: int) -> object:
        together.wait()
        return cpu_library()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == ["built\n"] * 4
    assert (tmp_path / "builds").read_text("utf-8") == "x\n"


def test_a_compiler_that_fails_is_named_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'this compiler is broken' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(broken))
    with caplog.at_level(logging.WARNING):
        assert cpu_library() is None
    assert "this compiler is broken" in caplog.text


def test_a_compiler_that_is_not_there_is_named_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(tmp_path / "nowhere"))
    with caplog.at_level(logging.WARNING):
        assert cpu_library() is None
    assert "nowhere: cannot be started: No such file" in caplog.text
    assert not list((tmp_path / "kernels").iterdir())


def test_a_library_that_kills_its_process_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A compiler whose output is no library stands for a processor that lacks an instruction: the child dies."""
    useless = tmp_path / "useless"
    useless.write_text('#!/bin/sh\nfor last; do :; done\necho nonsense > "$last"\n', encoding="utf-8")
    useless.chmod(0o755)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(useless))
    with caplog.at_level(logging.WARNING):
        assert cpu_library() is None
    assert "torch computes, slower, or NumPy" in caplog.text
    assert "Traceback" not in caplog.text
    assert not list((tmp_path / "kernels").iterdir())


def test_instructions_that_are_promised_in_vain_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    compiler = tmp_path / "compiler"
    choose = 'case "$*" in *-mno-avx512bf16*) made=runs;; *) made=dies;; esac'
    compiler.write_text(f'#!/bin/sh\n{choose}\nfor last; do :; done\necho $made > "$last"\n', encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", str(compiler))
    dies = "import os, sys; 'dies' in open(sys.argv[1]).read() and os.kill(os.getpid(), 4)"
    monkeypatch.setattr(cpu_library_module, "SELF_TEST", dies)
    monkeypatch.setattr(ctypes, "CDLL", lambda path: Path(path).read_text("utf-8"))
    assert cpu_library() == "runs\n"


def test_a_switch_turns_the_kernels_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_CPU_KERNELS", "0")
    assert cpu_library() is None
