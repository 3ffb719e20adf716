"""Processor seconds of a command and of every process under it, also of those that nobody waits for (Linux)."""

import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

LOOK_SECONDS = 0.1  # what a process spends after the last look at it is not seen
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(command: Sequence[str], *, environment: Mapping[str, str]) -> dict[str, float]:
    """Run a command to its end; seconds by the names of the processes."""
    with subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        spent: dict[int, tuple[str, float]] = {}
        while process.poll() is None:
            spent.update(_under(process.pid))
            time.sleep(LOOK_SECONDS)
        assert process.stdout is not None
        said = process.stdout.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    total: defaultdict[str, float] = defaultdict(float)
    for name, seconds in spent.values():
        total[name] += seconds
    return dict(total)


def _under(root: int) -> dict[int, tuple[str, float]]:
    """The name and the seconds of each process from a root on."""
    found: dict[int, tuple[int, str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, tail = (entry / "stat").read_text().rsplit(")", 1)
            except OSError:  # it has ended
                continue
            fields = tail.split()
            found[int(entry.name)] = (
                int(fields[1]),
                head.split("(", 1)[1],
                (int(fields[11]) + int(fields[12])) / TICKS,
            )
    known = {root}
    while grown := {pid for pid, (parent, _, _) in found.items() if parent in known} - known:
        known |= grown
    return {pid: found[pid][1:] for pid in known if pid in found}
