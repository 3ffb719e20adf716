"""`elmo serve` as a process of its own, on loopback and a free port."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PATIENCE = 300.0


class Started(NamedTuple):
    """A server that is ready; its log grows in a file."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def resident(self) -> int:
        """Bytes of memory that it has."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    @property
    def processor_seconds(self) -> float:
        """What it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def started(*options: str) -> Iterator[Started]:
    """Start it, wait until it is ready, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        command = [sys.executable, "-m", "elmo", "serve", "--port", "0", *options]
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True)
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            if not told:
                raise SystemExit(log.read_text("utf-8"))
            server = Started(process, int(told.rpartition(":")[2]), log)
            wait_until_ready(server)
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def wait_until_ready(server: Started) -> None:
    """Until the warm-up is over."""
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/ready", timeout=PATIENCE).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
