"""`make demo`: the packaged model's tour runs offline, and says what it made."""

import re
import subprocess
import sys
from pathlib import Path

import h5py

DEMO = Path(__file__).parent.parent / "demo"


def test_the_demo_shows_senses_and_neighbours_and_writes_vectors(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, DEMO], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert not done.stderr
    said = re.search(r"^(\d+) sentences embedded into (\S+); the first is \[3, \d+, 512\]", done.stdout, re.MULTILINE)
    assert said is not None, done.stdout
    with h5py.File(tmp_path / said[2]) as file:
        assert sum(name.isdigit() for name in file) == int(said[1])
    assert "Nearest neighbours in context" in done.stdout
