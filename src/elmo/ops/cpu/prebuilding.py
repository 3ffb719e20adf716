"""Builds the library of kernels that a wheel brings along: one file with a variant for each kind of processor.

Run by `hatch_build.py` where nothing is installed, so that it imports nothing of elmo. Each variant is compiled apart,
and all of its symbols but the functions' names are made its own: a function of the standard library that was compiled
for AVX-512 must not serve a processor that has none.
"""

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("kernels.cpp")  # the headers beside it are part of it
# Contraction: a product and a sum in one instruction. No other liberty with the arithmetic is taken.
FLAGS = ["-O3", "-std=c++17", "-fPIC", "-pthread", "-ffp-contract=fast", "-fno-math-errno"]
LIBRARY, RECORD = "cpu-kernels.so", "cpu-kernels.json"  # no name of a module: Python would import it
MOST_SECONDS = 600


class Variant(NamedTuple):
    """One way to compile the kernels, and what a processor must have for it, in the words of /proc/cpuinfo."""

    name: str
    options: list[str]
    needs: list[str]


_AVX2 = ["avx2", "fma", "f16c", "bmi1", "bmi2", "movbe", "abm"]
_AVX512 = [*_AVX2, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]
# The best first.
X86 = [
    Variant(
        "avx512bf16",
        ["-march=x86-64-v4", "-mavx512vnni", "-mavx512bf16"],
        [*_AVX512, "avx512_vnni", "avx512_bf16"],
    ),
    Variant("avx512vnni", ["-march=x86-64-v4", "-mavx512vnni"], [*_AVX512, "avx512_vnni"]),
    Variant("avx512", ["-march=x86-64-v4"], _AVX512),
    Variant("avxvnni", ["-march=x86-64-v3", "-mavxvnni"], [*_AVX2, "avx_vnni"]),
    Variant("avx2", ["-march=x86-64-v3"], _AVX2),
]
ARM = [Variant("neon", [], [])]  # every 64-bit ARM has it


def variants(machine: str = platform.machine()) -> list[Variant]:
    """Those for a kind of machine; none where nobody has tried it."""
    if machine in ("x86_64", "AMD64"):
        return X86
    return ARM if machine in ("aarch64", "arm64") else []


def source_digest() -> str:
    """Of all that is compiled: a library of another source is not this one's."""
    digest = hashlib.sha256()
    for path in (SOURCE, *sorted(SOURCE.parent.glob("*.h"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(compiler: str, folder: Path) -> None:
    """Write LIBRARY and RECORD into `folder`. CalledProcessError or OSError where a step fails."""
    chosen = variants()
    if not chosen or not sys.platform.startswith("linux"):
        raise OSError(f"no kernels are prebuilt for {sys.platform} on {platform.machine()}")
    objects = [_object(compiler, variant, folder) for variant in chosen]
    library = folder / LIBRARY
    # With its own standard library: the user's machine need not have one.
    own = ["-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,-s"]
    _run([compiler, "-shared", "-pthread", *own, *map(str, objects), "-o", str(library)])
    record = {
        "sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
        "source": source_digest(),
        "variants": {variant.name: variant.needs for variant in chosen},
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")


def _object(compiler: str, variant: Variant, folder: Path) -> Path:
    """The compiled kernels of a variant, with its name behind each function's."""
    compiled, joined, named = (folder / f"{variant.name}-{n}.o" for n in range(3))
    _run([compiler, *FLAGS, *variant.options, "-c", str(SOURCE), "-o", str(compiled)])
    _run([compiler, "-r", "-nostdlib", "-Wl,--force-group-allocation", str(compiled), "-o", str(joined)])
    renamed = [f"--redefine-sym={name}={name}_{variant.name}" for name in exported_functions()]
    _run([_tool("objcopy"), *renamed, "-w", "--keep-global-symbol=elmo_*", str(joined), str(named)])
    return named


def exported_functions() -> list[str]:
    """The functions that Python calls."""
    return re.findall(r"^\w+ (elmo_\w+)\(", SOURCE.read_text("utf-8"), re.MULTILINE)


def platform_tag(library: Path) -> str:
    """What a wheel with this library says of where it runs: by the youngest glibc that it asks for. [PEP 600]"""
    machine = platform.machine()
    needed = [tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())]
    if platform.libc_ver()[0] != "glibc" or not needed:
        return f"linux_{machine}"
    major, minor = max(needed)
    return f"manylinux_{major}_{max(minor, 17)}_{machine}"


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise OSError(f"{name} is not installed; it comes with the compiler (binutils)")
    return found


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS)
