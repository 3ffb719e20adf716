"""The compiled kernels for a CPU: built once by the machine's own compiler, proved in a child process, then kept.

Without a compiler (or with ELMO_CPU_KERNELS=0) there are none, and plain torch does the same work, slower.
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

_LOGGER = logging.getLogger(__name__)
SOURCE = Path(__file__).with_name("cpu_kernels.cpp")
SWITCH = "ELMO_CPU_KERNELS"
# Contraction: a product and a sum in one instruction. No other liberty with the arithmetic is taken.
FLAGS = ["-O3", "-std=c++17", "-fPIC", "-shared", "-pthread", "-ffp-contract=fast", "-fno-math-errno"]
MOST_SECONDS = 120
SELF_TEST = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).elmo_self_test())"


@functools.cache
def cpu_library() -> ctypes.CDLL | None:
    """The library, built if need be; None where that does not work, which is said once."""
    if os.environ.get(SWITCH) == "0" or os.name == "nt":
        return None
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    path = _folder() / f"cpu-{_key(compiler)}.so"
    try:
        if not path.exists():
            if compiler is None:
                _LOGGER.info("no C++ compiler is installed, so plain torch is used; with one (g++) a CPU is faster")
                return None
            _build(compiler, path)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.SubprocessError) as error:
        _LOGGER.warning("the CPU kernels could not be built (%s); plain torch is used, slower", _first_line(error))
        return None


def cpu_library_name() -> str | None:
    """The name of the library, which tells one build, and so one kind of processor, from another."""
    library = cpu_library()
    return None if library is None else Path(library._name).stem


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "elmo" / "kernels"


def _key(compiler: str | None) -> str:
    """Another source, processor or compiler is another library: a home folder may be shared between machines."""
    digest = hashlib.sha256(SOURCE.read_bytes())
    digest.update(repr((FLAGS, compiler, platform.machine(), _processor())).encode("utf-8"))
    return digest.hexdigest()[:24]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))


def _build(compiler: str, path: Path) -> None:
    _LOGGER.info("building the CPU kernels, once on this machine: %s", path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    native = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = os.path.join(folder, "kernels.so")
        _run([compiler, *FLAGS, native, str(SOURCE), "-o", made])
        # In a child: a processor that advertises instructions that it cannot run must not kill this process.
        _run([sys.executable, "-c", SELF_TEST, made])
        os.replace(made, path)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS)


def _first_line(error: Exception) -> str:
    text = getattr(error, "stderr", None) or str(error)
    return str(text).strip().split("\n", 1)[0][:200]
