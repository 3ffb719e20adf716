"""Memory and interruption of `elmo embed` on a long file: does memory grow with it, does a kill lose anything?

Makes a text of generated lines and a tiny random model, embeds it to HDF5, kills the process (SIGKILL) when half of the
parts are there, resumes, and checks every row. Prints the resident memory over the run and its slope.

    python -m benchmarks.embed.million_lines --lines 1000000 --format hdf5
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet
import torch

from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

LINES_IN_PART = 4096


def make_model(path: Path) -> None:
    config = BiLMConfig(
        tokens=CharCNNConfig(embedding_dim=4, filters=((1, 4), (2, 4)), highways=0, output_dim=8),
        lstm=BiLSTMConfig(input_dim=8, cell_dim=8, layers=1),
    )
    bilm = BiLM(config)
    bilm.initialize(torch.Generator().manual_seed(0))
    model = LoadedModel(bilm=bilm, tokenizer=Tokenizer(rule="whitespace"))
    model.settle()
    write_model(model, path)


def line_of(n: int) -> str:
    chooser = random.Random(n)
    return " ".join(f"w{chooser.randrange(30_000)}" for _ in range(chooser.randrange(8)))


def resident_megabytes(pid: int) -> float | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), None)


def watch(command: list[str], parts: Path, *, kill_at: int | None) -> list[tuple[int, float]]:
    """Run to the end, or kill when so many parts are there; (parts, megabytes) once a second."""
    process = subprocess.Popen(command)
    seen: list[tuple[int, float]] = []
    while process.poll() is None:
        done = len(list(parts.glob("*.part"))) if parts.exists() else 0
        memory = resident_megabytes(process.pid)
        if memory is not None:
            seen.append((done, memory))
        if kill_at is not None and done >= kill_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return seen
        time.sleep(1.0)
    if process.returncode:
        sys.exit(f"elmo embed failed with {process.returncode}")
    return seen


def report(name: str, seen: list[tuple[int, float]]) -> None:
    memory = np.array([m for _, m in seen])
    steady = memory[len(memory) // 4 :]
    slope = np.polyfit(np.arange(len(steady)), steady, 1)[0] if len(steady) > 2 else float("nan")
    print(
        f"{name}: {len(seen)} s, resident {memory[0]:.0f} MB at the start, {memory.max():.0f} MB at most, "
        f"{memory[-1]:.0f} MB at the end; slope {slope:+.3f} MB/s after the first quarter"
    )


def check(output: Path, lines: int) -> None:
    if output.suffix == ".hdf5":
        with h5py.File(output) as file:
            assert len(file) == lines
            for n in range(0, lines, 997):
                words = line_of(n).split()
                assert file[str(n)].shape == (len(words), 16)
                assert [t.decode() if isinstance(t, bytes) else t for t in file[str(n)].attrs["tokens"]] == words
    else:
        table = pyarrow.parquet.ParquetFile(output)
        n = 0
        for batch in table.iter_batches(columns=["line", "text"]):
            for line, text in zip(batch["line"].to_pylist(), batch["text"].to_pylist(), strict=True):
                assert (line, text) == (n, line_of(n))
                n += 1
        assert n == lines
    print(f"{output.name}: {lines:,} rows, each once and in order")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--format", choices=["hdf5", "parquet"], default="hdf5")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, output = Path(folder, "text.txt"), Path(folder, f"out.{arguments.format}")
        make_model(Path(folder, "model"))
        with open(text, "w", encoding="utf-8") as file:
            file.writelines(line_of(n) + "\n" for n in range(arguments.lines))
        print(f"{arguments.lines:,} lines, {text.stat().st_size / 1e6:.0f} MB of text")
        command = [sys.executable, "-c", "import sys; from elmo.apps.cli import main; sys.exit(main())", "embed"]
        command += [str(text), "-o", str(output), "-m", str(Path(folder, "model")), "--tokenized"]
        if arguments.format == "hdf5":
            command += ["--format", "hdf5-bilm"]
        parts = output.with_name(output.name + ".parts")
        report("until killed", watch(command, parts, kill_at=arguments.lines // LINES_IN_PART // 2))
        report("resumed", watch([*command, "--resume"], parts, kill_at=None))
        check(output, arguments.lines)


if __name__ == "__main__":
    main()
