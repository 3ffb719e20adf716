"""Fuzz every reader of files: valid files, changed a little, may be read or refused, and nothing else may happen.

    python -m benchmarks.hostile.fuzz --inputs 20000

Anything but an `ElmoError` of one line that names the file, a crash of the process, an input that takes more than ten
seconds of processor time, two minutes by the clock, or 8 GiB is a failure, printed with its number; the same number and
seed make the same input again (`--only NUMBER`). `models`, `texts`, `works`, `left`, `vectors` and `reports` list what
is read.
"""

import argparse
import logging
import math
import multiprocessing
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from benchmarks.hostile.left import left_targets
from benchmarks.hostile.models import model_targets
from benchmarks.hostile.reports import report_targets
from benchmarks.hostile.target import Target
from benchmarks.hostile.texts import text_targets
from benchmarks.hostile.vectors import vector_targets
from benchmarks.hostile.works import work_targets

MOST_SECONDS = 10.0  # of processor time: a busy machine makes nothing a hang
MOST_WAITING = 120.0  # by the clock: what waits takes no processor time
MOST_MEMORY = 8 << 30


def make_targets(directory: Path) -> list[Target]:
    """All readers that there are."""
    return [
        *model_targets(directory / "models"),
        *text_targets(),
        *work_targets(directory / "works"),
        *left_targets(directory / "left"),
        *vector_targets(directory / "vectors"),
        *report_targets(),
    ]


def _work(seed: int, start: int, stop: int, current: Any, outcomes: Any) -> None:
    """A process that goes through inputs and reports what came of each."""
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        targets = make_targets(Path(folder) / "valid")
        for n, target in enumerate(targets):
            target.lay_out(Path(folder) / str(n))
            target.read(Path(folder) / str(n))  # the valid files are read, or nothing below means anything
        for number in range(start, stop):
            target = targets[number % len(targets)]
            outcomes.put(("begun", target.name))
            current[0], current[1] = number, time.monotonic()
            if sys.platform != "win32":
                signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # SIGPROF ends the process
            try:
                outcome, message = target.run(Path(folder) / str(number % len(targets)), seed, number)
            except BaseException:
                outcome = "ESCAPED"
                outcomes.put(("failure", f"input {number} ({target.name}):\n{traceback.format_exc()}"))
            if outcome.startswith("REFUSED"):
                outcomes.put(("failure", f"input {number} ({target.name}): {outcome.lower()}: {message[:500]!r}"))
            outcomes.put(("outcome", (target.name, outcome)))
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, 0)
        current[0] = stop


def _totals(counts: Counter[tuple[str, str]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (_, outcome), count in counts.items():
        totals[outcome] += count
    return totals


def main(argv: list[str] | None = None) -> int:
    """Run the inputs in a process that is begun anew where it dies or hangs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run this input alone")
    options = parser.parse_args(argv)
    start, stop = (options.only, options.only + 1) if options.only is not None else (0, options.inputs)
    context = multiprocessing.get_context("spawn")
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    name = ""
    began = time.monotonic()
    while start < stop:
        current, outcomes = context.Array("d", [start, math.inf]), context.SimpleQueue()
        process = context.Process(target=_work, args=(options.seed, start, stop, current, outcomes))
        process.start()
        while process.is_alive() or not outcomes.empty():
            while not outcomes.empty():
                kind, value = outcomes.get()
                if kind == "outcome":
                    counts[value] += 1
                elif kind == "begun":
                    name = value
                else:
                    failures.append(value)
                    print(value, flush=True)
            process.join(0.2)
            if process.is_alive() and time.monotonic() - current[1] > MOST_WAITING:
                process.kill()
                process.join()
        if process.exitcode:
            waited = time.monotonic() - current[1] > MOST_WAITING
            hangs = waited or -process.exitcode == getattr(signal, "SIGPROF", None)
            how = f"took too long ({'clock' if waited else 'processor'})" if hangs else f"ended with {process.exitcode}"
            counts[name, "HANGS" if hangs else "CRASHES"] += 1
            failures.append(f"input {int(current[0])} ({name}) {how}")
            print(failures[-1], flush=True)
        start = stop if current[0] >= stop else int(current[0]) + 1
    for (what, outcome), count in sorted(counts.items()):
        print(f"{what:32s} {outcome:24s} {count:8,}")
    for outcome, count in sorted(_totals(counts).items()):
        print(f"{'all':32s} {outcome:24s} {count:8,}")
    seconds = time.monotonic() - began
    print(f"{sum(counts.values()):,} inputs, {len(failures)} failures, {seconds:.0f} s, seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
