"""NVIDIA's multi-process service, where it is to be had: kernels of several processes then run side by side on one GPU.

Without it they take turns, and runs at the same time gain little: the steps of a task model are many small kernels.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

CONTROL = "nvidia-cuda-mps-control"
SECONDS = 60


@contextmanager
def multi_process_service(*, wanted: bool = True) -> Iterator[bool]:
    """Start the service for the processes begun inside, and end it, or use the one there is; says whether it runs."""
    if "CUDA_MPS_PIPE_DIRECTORY" in os.environ or not wanted:
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix="elmo-mps-") as folder:
        places = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        environment = {**os.environ, **places}
        if not _start(environment):
            yield False
            return
        before = {name: os.environ.get(name) for name in places}
        os.environ.update(places)
        try:
            yield True
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
            _run([CONTROL], environment, text="quit\n")


def _start(environment: dict[str, str]) -> bool:
    if not _run([CONTROL, "-d"], environment):
        return False
    # The daemon starts even where its server cannot: only a program that uses the GPU through it tells.
    if _run([sys.executable, "-c", "import torch; torch.ones(2, device='cuda').sum().item()"], environment):
        return True
    _run([CONTROL], environment, text="quit\n")
    return False


def _run(command: list[str], environment: dict[str, str], *, text: str | None = None) -> bool:
    try:
        done = subprocess.run(command, env=environment, input=text, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
