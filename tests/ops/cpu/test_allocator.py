"""Freed memory is kept by the process, where the C library can."""

import subprocess
import sys

import pytest

from elmo.ops.cpu.allocator import keep_freed_memory

FAULTS = """
import resource, sys
import torch
from elmo.ops.cpu.allocator import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def large():
    torch.empty(1 << 24).fill_(1)  # 64 MiB
for _ in range(20):
    large()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    large()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not keep_freed_memory(), reason="the C library has no mallopt")
def test_a_tensor_made_again_costs_no_page_faults() -> None:
    faults = {}
    for how in ("kept", "given back"):
        done = subprocess.run([sys.executable, "-c", FAULTS, how], check=True, capture_output=True, text=True)
        faults[how] = int(done.stdout)
    assert faults["given back"] > 20  # large pages are few
    assert faults["kept"] < faults["given back"] / 4
