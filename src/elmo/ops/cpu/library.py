"""The compiled kernels for a CPU: those that came with the wheel, or built once by the machine's own compiler.

Both are proved in a child process. Without either (or with ELMO_CPU_KERNELS=0) there are none, and torch or NumPy does
the work, slower; ELMO_CPU_KERNELS=build passes the wheel's over. What was built is loaded only from a folder that
nobody else can write, and only while it is the file that was built.
"""

import ctypes
import functools
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from elmo.disk.cachefolder import VARIABLE, cache_directory, why_not_private
from elmo.disk.temporaries import remove_abandoned
from elmo.disk.writing import atomic_path, write_file
from elmo.errors import ElmoError
from elmo.ops.cpu.prebuilding import FLAGS, SOURCE, source_digest
from elmo.ops.cpu.prebuilt import VariantLibrary, prebuilt_library
from elmo.ops.threadlock import ThreadLock

logger = logging.getLogger(__name__)
_LOCK = ThreadLock()  # threads that come together wait for one build
SWITCH = "ELMO_CPU_KERNELS"
DOUBTFUL = ["-mno-avx512bf16"]  # left out where the test is killed; some virtual machines promise it in vain
FOLDER = "kernels"
MOST_SECONDS = 900  # against a compiler that hangs; it needs 20 s, and a busy machine many times that
SELF_TEST = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).elmo_self_test())"


Library = ctypes.CDLL | VariantLibrary


def cpu_library() -> Library | None:
    """The library, built if none came along; None where that does not work, which is said once."""
    with _LOCK.held():
        return _find_library()


@functools.cache
def _find_library() -> Library | None:
    if os.environ.get(SWITCH) == "0" or os.name == "nt":
        return None
    came_along = None if os.environ.get(SWITCH) == "build" else prebuilt_library()
    if came_along is not None:
        return came_along
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    path = cache_directory() / FOLDER / f"cpu-{_key(compiler)}.so"
    try:
        fault = _fault_of_folder(path.parent)
        if fault is not None:
            logger.warning(
                "%s: %s, so no compiled code is taken from there; the CPU kernels are built for this process alone, "
                "which takes some seconds; take that right away (chmod go-w), or set %s to a folder of your own",
                path.parent,
                fault,
                VARIABLE,
            )
            with tempfile.TemporaryDirectory(prefix="elmo-kernels-") as folder:  # only its owner may enter it
                return _load_or_build(compiler, Path(folder) / path.name)
        return _load_or_build(compiler, path)
    except (OSError, subprocess.SubprocessError, ElmoError) as error:
        logger.warning(
            "the CPU kernels could not be built (%s); torch computes, slower, or NumPy, many times slower; they need a "
            "C++ compiler (g++ or clang++) and a folder that can be written (%s), or a wheel that brings them",
            _reason(error),
            VARIABLE,
        )
        return None


def _fault_of_folder(folder: Path) -> str | None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return why_not_private(folder)


def _load_or_build(compiler: str | None, path: Path) -> ctypes.CDLL | None:
    if not _is_as_built(path):
        if compiler is None:
            logger.info("no C++ compiler is installed, so torch or NumPy computes; with one (g++) a CPU is faster")
            return None
        _build(compiler, path)
    return ctypes.CDLL(str(path))


def _is_as_built(path: Path) -> bool:
    """Whether the file is there, nobody else could write it, and its bytes are those that were built."""
    if not (path.is_file() and _record_of(path).is_file()):  # not built yet, or its record is lost; a pipe would wait
        return False
    try:
        fault = why_not_private(path)
        recorded = _record_of(path).read_text("ascii")
        if fault is None and recorded != hashlib.sha256(path.read_bytes()).hexdigest():
            fault = "is not as it was built"
    except FileNotFoundError:  # taken away by another process
        return False
    except ValueError:
        fault = "has a record that is none"
    if fault is not None:
        logger.warning("%s: %s; it is not used but built anew", path, fault)
    return fault is None


def _record_of(path: Path) -> Path:
    return path.with_suffix(".sha256")


def cpu_library_name() -> str | None:
    """The name of the library, which tells one build, and so one kind of processor, from another."""
    library = cpu_library()
    if isinstance(library, VariantLibrary):
        return library.name
    return None if library is None else Path(library._name).stem


def _key(compiler: str | None) -> str:
    """Another source, processor or compiler is another library: a home folder may be shared between machines."""
    facts = repr((source_digest(), FLAGS, compiler, platform.machine(), _processor()))
    return hashlib.sha256(facts.encode("utf-8")).hexdigest()[:24]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))


def _build(compiler: str, path: Path) -> None:
    logger.info("building the CPU kernels, once on this machine: %s", path)
    native = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
    remove_abandoned(path.parent)
    with atomic_path(path) as made:
        try:
            _make(compiler, [native], made)
        except subprocess.CalledProcessError as error:
            if error.returncode >= 0 or platform.machine() != "x86_64":  # no signal
                raise
            _make(compiler, [native, *DOUBTFUL], made)
        made.chmod(0o700)
        write_file(_record_of(path), hashlib.sha256(made.read_bytes()).hexdigest().encode("ascii"))


def _make(compiler: str, options: list[str], made: Path) -> None:
    _run([compiler, *FLAGS, "-shared", *options, str(SOURCE), "-o", str(made)])
    # In a child: a processor that advertises instructions that it cannot run must not kill this process.
    _run([sys.executable, "-c", SELF_TEST, str(made)])


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS)
    except OSError as error:  # not of the disk
        raise ElmoError(f"{command[0]}: cannot be started: {error.strerror or error}") from None


def _reason(error: Exception) -> str:
    """One line: a compiler says first what is wrong, a traceback of Python's last."""
    lines = str(getattr(error, "stderr", None) or error).strip().splitlines() or [type(error).__name__]
    return lines[-1 if lines[0].startswith("Traceback") else 0][:200]
