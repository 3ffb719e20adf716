"""Whether this CPU computes in bfloat16: tried in a child process, since some advertise units that they cannot run."""

import functools
import subprocess
import sys

# Products of several shapes, as the model has them: the library chooses its instructions by shape.
TRIAL = """
import torch
for rows in (1, 8, 64):
    x = torch.ones(2, rows, 256, dtype=torch.bfloat16)
    y = torch.baddbmm(torch.zeros(2, rows, 512, dtype=torch.bfloat16), x, torch.ones(2, 256, 512, dtype=torch.bfloat16))
    assert bool((y == 256).all()) and bool((x[0] @ torch.ones(256, 64, dtype=torch.bfloat16) == 256).all())
"""
MOST_SECONDS = 600  # against a child that hangs: what it finds must not depend on how busy the machine is


@functools.cache
def cpu_runs_bfloat16() -> bool:
    """True where the child came to its end with the right numbers."""
    try:
        done = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, timeout=MOST_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
