"""The library of kernels that came with the wheel: found, checked, and proved once on this machine in a child process.

It is trusted as the program's own code is: nobody may be able to write it who cannot write this file, and it must be
what was built of the source beside it. Of its variants the best is taken that this processor has and can run.
"""

import ctypes
import functools
import hashlib
import json
import logging
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from elmo.disk.cachefolder import cache_directory, why_not_private
from elmo.disk.writing import write_file
from elmo.ops.cpu.prebuilding import LIBRARY, RECORD, source_digest

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parent
PROOFS = "kernels"
PROOF = "import ctypes, sys; sys.exit(getattr(ctypes.CDLL(sys.argv[1]), 'elmo_self_test_' + sys.argv[2])())"
MOST_SECONDS = 600  # against a child that hangs; it needs one, and a busy machine many times that


class VariantLibrary:
    """One variant's functions, under the names that a library of one variant has."""

    def __init__(self, path: Path, variant: str, *, digest: str) -> None:
        self._library = ctypes.CDLL(str(path))
        self._variant = variant
        self.name = f"{variant}-{digest[:24]}"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("elmo_"):
            raise AttributeError(name)
        return getattr(self._library, f"{name}_{self._variant}")


def prebuilt_library() -> VariantLibrary | None:
    """The best variant that runs here; None where none came with the program, or none can be used."""
    path = FOLDER / LIBRARY
    try:
        record = json.loads((FOLDER / RECORD).read_text("ascii"))
        digest, source = str(record["sha256"]), record["source"]
        variants = {str(name): frozenset(needs) for name, needs in record["variants"].items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        logger.warning("%s: is damaged, so the CPU kernels beside it are not used; install elmo anew", FOLDER / RECORD)
        return None
    if source != source_digest():
        logger.info("%s: belongs to another version and is not used", path)
        return None
    fault = _fault_of(path, digest)
    if fault is not None:
        logger.warning("%s: %s, so it is not used; install elmo anew", path, fault)
        return None
    has = processor_features()
    for variant, needs in variants.items():
        if has.issuperset(needs) and _is_proved(path, variant, digest):
            return VariantLibrary(path, variant, digest=digest)
    return None


def _fault_of(path: Path, digest: str) -> str | None:
    try:
        facts, code = path.stat(), Path(__file__).stat()
        if not stat.S_ISREG(facts.st_mode):
            return "is no file"
        if facts.st_uid not in (code.st_uid, 0):
            return f"belongs to user {facts.st_uid}, but the program to {code.st_uid}"
        if facts.st_mode & ~code.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"can be written by others (mode {stat.S_IMODE(facts.st_mode):o})"
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return "is not as it was built"
    except OSError as error:
        return str(error.strerror)
    return None


@functools.cache
def processor_features() -> frozenset[str]:
    """What the processor has and the system lets it use. Only Linux says so in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = [line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))]
    return frozenset(flags[0]).intersection(*flags) if flags else frozenset()


def _is_proved(path: Path, variant: str, digest: str) -> bool:
    """Whether the variant passes its own test in a child process: some processors advertise what they cannot run.

    What has passed is remembered in the user's cache, where only the user can write it.
    """
    facts = repr((digest, variant, sorted(processor_features())))
    proof = cache_directory() / PROOFS / f"proved-{hashlib.sha256(facts.encode()).hexdigest()[:24]}"
    try:
        if proof.is_file() and why_not_private(proof.parent) is None and why_not_private(proof) is None:
            return True
    except OSError:
        pass
    command = [sys.executable, "-I", "-S", "-c", PROOF, str(path), variant]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("%s: cannot be tried (%s) and is not used", path, error)
        return False
    if done.returncode:
        logger.warning("%s: %s does not run on this processor (status %d)", path, variant, done.returncode)
        return False
    try:
        proof.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if why_not_private(proof.parent) is None:
            write_file(proof, b"")
    except OSError as error:
        logger.info("%s: is not remembered: %s", proof, error)
    return True
